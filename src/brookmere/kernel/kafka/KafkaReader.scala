package brookmere.kernel.kafka

import java.time.Duration
import java.util.{ArrayDeque, HashMap => JHashMap}
import java.util.concurrent.{ConcurrentHashMap, TimeUnit}

import scala.jdk.CollectionConverters._

import brookmere.kernel.rows.{Layout, RawLayout, RowWriter}
import brookmere.kernel.topics.RawRows

import org.apache.kafka.clients.consumer.{ConsumerRecord, KafkaConsumer, OffsetOutOfRangeException}
import org.apache.kafka.common.{KafkaException, TopicPartition}
import org.apache.kafka.common.errors.InterruptException
import org.apache.kafka.common.serialization.ByteBufferDeserializer
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.connector.read.PartitionReader
import org.apache.spark.unsafe.types.UTF8String

import java.nio.ByteBuffer

/** One of the partitions that a consumer reads: its position, and what was fetched ahead of its batch. */
final class Track(val at: TopicPartition, val number: Int) {
  val ahead = new ArrayDeque[ConsumerRecord[ByteBuffer, ByteBuffer]]()
  /** The next offset to read; negative if unknown. */
  var next: Long = -1L
  /** Where the current batch ends. */
  var end: Long = -1L
}

/** A consumer that resumes where its last batch ended, so records that arrived since then are fetched already. */
final class BatchConsumer(place: KafkaPlace) {
  private val client = new KafkaConsumer[ByteBuffer, ByteBuffer](
    place.consumers.properties(BatchConsumer.Defaults, BatchConsumer.Fixed),
    new ByteBufferDeserializer, new ByteBufferDeserializer)
  private val tracks = new JHashMap[TopicPartition, Track]()
  private var wanted: Array[Track] = Array.empty
  private var current = 0
  private var skipsLost = false
  private var deadline = 0L
  private var quiet = Long.MaxValue

  def begin(p: KafkaPartition): Unit = {
    skipsLost = p.skipsLost
    wanted =
      p.ranges.map(r => tracks.computeIfAbsent(new TopicPartition(r.topic, r.partition), t => new Track(t, r.number)))
    // A partition is assigned with its first batch: its start is not known before.
    if (client.assignment.size < tracks.size) client.assign(tracks.keySet)
    p.ranges.zip(wanted).foreach { case (r, track) =>
      if (track.next != r.start) {
        track.ahead.clear()
        track.next = r.start
        client.seek(track.at, r.start)
      }
      track.end = r.end
    }
    current = 0
    patience()
  }

  private def patience(): Unit = {
    deadline = System.nanoTime + TimeUnit.MILLISECONDS.toNanos(place.waitMs)
    quiet = System.nanoTime + BatchConsumer.QuietNanos
  }

  private def waitsFor: String = wanted.filterNot(isDone).map(_.at).mkString(", ")

  private def isDone(t: Track): Boolean =
    if (t.ahead.isEmpty) t.next >= t.end || client.position(t.at) >= t.end else t.ahead.peek.offset >= t.end

  /** The next record of the batch and the partition it belongs to; null at the end. */
  var track: Track = null
  def poll(): ConsumerRecord[ByteBuffer, ByteBuffer] = {
    while (true) {
      while (current < wanted.length) {
        val t = wanted(current)
        val r = t.ahead.peek
        if (r != null && r.offset < t.end) {
          t.ahead.poll()
          t.next = r.offset + 1
          track = t
          return r
        }
        current += 1
      }
      if (wanted.forall(isDone)) {
        wanted.foreach(t => t.next = t.end)
        wanted = Array.empty
        return null
      }
      fetch()
      current = 0
    }
    null
  }

  private def fetch(): Unit = {
    // Partitions with records beyond their batch are paused, so that the buffer does not grow.
    val open = wanted.filterNot(isDone).map(_.at).toSet
    val (off, on) = client.assignment.asScala.toSeq.partition(p => !open(p) && !tracks.get(p).ahead.isEmpty)
    client.pause(off.asJava)
    client.resume(on.asJava)
    val found = try client.poll(Duration.ofMillis(BatchConsumer.PollMs)) catch {
      case e: OffsetOutOfRangeException => skip(e); return
      case e: InterruptException => throw e
      case e: KafkaException => throw place.errors.explain("Read", e)
    }
    found.partitions.forEach { p =>
      val t = tracks.get(p)
      found.records(p).forEach(r => t.ahead.add(r))
    }
    if (!found.isEmpty) patience()
    else if (System.nanoTime > deadline) throw Retry.gone(place, s"Read of $waitsFor", null)
    else if (System.nanoTime > quiet) {
      quiet = Long.MaxValue
      Notices.add(place.run, s"Kafka does not answer (Read of $waitsFor). " +
        s"Waiting up to ${place.waitMs / 1000} s for it.")
    }
  }

  private def skip(e: OffsetOutOfRangeException): Unit = {
    val starts = try client.beginningOffsets(e.offsetOutOfRangePartitions.keySet) catch {
      case e: KafkaException if Causes.isPassing(e) => return
      case e: KafkaException => throw place.errors.explain("Read", e)
    }
    e.offsetOutOfRangePartitions.forEach { (p, at) =>
      val start = starts.get(p).longValue
      if (at > start) throw KafkaStream.shortened(p.topic, p.partition, at)
      if (!skipsLost) throw KafkaStream.lost(p.topic, p.partition, at, start)
      Notices.add(place.run, s"Retention removed records of the topic '${p.topic}' that were not read: " +
        s"partition ${p.partition} continues at $start instead of $at.")
      client.seek(p, start)
    }
  }

  def close(): Unit = client.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ZERO))
}

object BatchConsumer {
  private val PollMs = 200L
  private val QuietNanos = 5L * 1000 * 1000 * 1000
  private val Defaults = Map("max.poll.records" -> "5000", "max.partition.fetch.bytes" -> "4194304",
    "receive.buffer.bytes" -> "1048576")
  private val Fixed = Map("isolation.level" -> "read_committed", "enable.auto.commit" -> "false",
    "auto.offset.reset" -> "none",
    "allow.auto.create.topics" -> "false")
}

/** Consumers that wait for the next batch, by run and lane. */
object Consumers {
  private val idle = new ConcurrentHashMap[String, BatchConsumer]()
  private def key(run: String, lane: Int) = s"$run/$lane"

  def take(place: KafkaPlace, lane: Int): BatchConsumer = {
    val c = idle.remove(key(place.run, lane))
    if (c != null) c else place.errors.explained("Read")(new BatchConsumer(place))
  }

  def leave(place: KafkaPlace, lane: Int, c: BatchConsumer): Unit = {
    val other = idle.put(key(place.run, lane), c)
    if (other != null) other.close()
  }

  def close(run: String): Unit = idle.keySet.asScala.filter(_.startsWith(run + "/")).foreach { k =>
    val c = idle.remove(k)
    if (c != null) c.close()
  }
}

/** Reads the records of a batch as rows for stage 0. */
final class KafkaReader(p: KafkaPartition) extends PartitionReader[InternalRow] {
  private val out = new RowWriter(RawLayout.schema.length)
  private val packHeaders = UnsafeProjection.create(Layout.headersSchema)
  private var consumer: BatchConsumer = null
  private var isFirst = true
  private var isWhole = false

  override def next(): Boolean = {
    if (isFirst) {
      isFirst = false
      if (RawRows.tick(out, p.tick)) return true
    }
    if (p.ranges.isEmpty) return false
    if (consumer == null) {
      consumer = Consumers.take(p.place, p.lane)
      consumer.begin(p)
    }
    val r = consumer.poll()
    if (r == null) isWhole = true else fill(consumer.track.number, r)
    r != null
  }

  override def get(): InternalRow = out.result()

  private def fill(topic: Int, r: ConsumerRecord[ByteBuffer, ByteBuffer]): Unit = {
    out.begin()
    out.put(RawLayout.Topic, topic)
    out.put(RawLayout.Partition, r.partition)
    out.put(RawLayout.Offset, r.offset)
    out.put(RawLayout.Ts, r.timestamp)
    bytes(RawLayout.Key, r.key)
    bytes(RawLayout.Value, r.value)
    headers(r)
    out.setNull(RawLayout.Clock)
  }

  private def bytes(field: Int, from: ByteBuffer): Unit =
    if (from == null) out.setNull(field) else out.bytes(field, from, from.position(), from.remaining)

  private def headers(r: ConsumerRecord[ByteBuffer, ByteBuffer]): Unit = {
    val all = r.headers.toArray
    if (all.isEmpty) out.setNull(RawLayout.Headers)
    else {
      val list = all.map(h => new GenericInternalRow(Array[Any](UTF8String.fromString(h.key), h.value)))
      out.copy(RawLayout.Headers,
        packHeaders(new GenericInternalRow(Array[Any](new GenericArrayData(list.asInstanceOf[Array[Any]])))), 0)
    }
  }

  /** A consumer that was left in the middle of a batch has no known position. */
  override def close(): Unit = if (consumer != null) {
    if (isWhole) Consumers.leave(p.place, p.lane, consumer) else consumer.close()
    consumer = null
  }
}
