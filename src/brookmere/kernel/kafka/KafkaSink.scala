package brookmere.kernel.kafka

import scala.jdk.CollectionConverters._

import brookmere.kernel.rows.{Layout, SourceNumber}
import brookmere.kernel.topics.StagedSegment
import brookmere.kernel.transport._

import org.apache.kafka.clients.producer.{Callback, KafkaProducer, ProducerRecord}
import org.apache.kafka.common.{InvalidRecordException, KafkaException}
import org.apache.kafka.common.errors.{InvalidTimestampException, RecordTooLargeException}
import org.apache.kafka.common.header.Header
import org.apache.kafka.common.header.internals.RecordHeader
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Writes a topology's records to Kafka: each task commits its own transactions, the driver commits to the consumer
 * group.
 */
final class KafkaWrite(name: String, query: String) extends TopologyWrite(name, Sinks.plan(name)) {
  private val place = Sinks.place[KafkaPlace](name)
  private val plan = Sinks.plan(name)
  override protected val outputFactory: OutputFactory = new KafkaOutputFactory(place, plan.sources, query)
  override protected def commit(epoch: Long, segments: Seq[StagedSegment]): Unit = {
    FaultInjection.at("written")
    KafkaPlaces.end(place.run).foreach(end => GroupOffsets.commit(place, end))
  }
  override protected def discard(segments: Seq[StagedSegment]): Unit = ()
}

final class KafkaOutputFactory(place: KafkaPlace, sources: Array[String], query: String) extends OutputFactory {
  override def output(partition: Int, epoch: Long): Output =
    if (place.exactlyOnce) new TransactionalOutput(place, sources, query, partition, epoch) else new PlainOutput(place)
}

/** What both kinds of output share. */
abstract class KafkaOutput(place: KafkaPlace) extends Output {
  private val now = System.currentTimeMillis
  private val topics = new java.util.HashMap[String, KafkaTopic]()
  @volatile private var failure: Exception = null
  private val callback: Callback = (_, e) => if (e != null && failure == null) failure = e

  private def known(name: String): KafkaTopic = {
    var t = topics.get(name)
    if (t == null) { t = OutputTopics.of(place, name); topics.put(name, t) }
    t
  }

  override def topic(name: String): OutputTopic = known(name).output

  protected def check(topic: String, ts: Long, key: Array[Byte], value: Array[Byte], headers: Array[Header]): Unit = {
    val t = known(topic)
    val size = KafkaOutput.size(key, value, headers)
    if (size > t.maxBytes) throw new TopicRefused("", new RecordTooLargeException(
      s"the record has $size bytes, and the topic '$topic' accepts ${t.maxBytes} " +
      "(the smaller of max.message.bytes and the producer's max.request.size)"))
    if (!t.output.appendTime && (ts < 0 || now - ts > t.olderMs || ts - now > t.newerMs)) {
      throw new TopicRefused("", new InvalidTimestampException(s"the record's time $ts is outside of what " +
        s"the topic '$topic' accepts (message.timestamp.before.max.ms, message.timestamp.after.max.ms)"))
    }
  }

  protected def send(producer: KafkaProducer[Array[Byte], Array[Byte]], topic: String, partition: Int, ts: Long,
      key: Span, value: Span, headers: Array[(Array[Byte], Array[Byte])]): Unit = {
    healthy()
    val (k, v) = (bytes(key), bytes(value))
    val h: Array[Header] =
      if (headers == null) KafkaOutput.NoHeaders
      else headers.map { case (n, x) => new RecordHeader(if (n == null) "" else new String(n, "UTF-8"), x) }
    check(topic, ts, k, v, h)
    FaultInjection.at("sending")
    val all = if (h.isEmpty) null else java.util.Arrays.asList(h: _*)
    try producer.send(new ProducerRecord(topic, partition, ts, k, v, all), callback)
    catch { case e: KafkaException => failed(e) }
  }

  protected def healthy(): Unit = if (failure != null) failed(failure)
  protected def isHealthy: Boolean = failure == null

  private def failed(e: Exception): Nothing = {
    failure = e
    throw explained(e)
  }

  protected def explained(e: Throwable): Throwable = KafkaOutput.explained(place, e)

  private def bytes(s: Span): Array[Byte] =
    if (s.length < 0) null
    else {
      val b = new Array[Byte](s.length)
      Platform.copyMemory(s.base, s.offset, b, Platform.BYTE_ARRAY_OFFSET, s.length)
      b
    }

  private val originals = new OriginalRecords(place)
  override def original(topic: String, partition: Int, offset: Long): Option[Original] =
    originals.read(topic, partition, offset)
  protected def close(): Unit = originals.close()
}

object KafkaOutput {
  /**
   * The most bytes that a record needs on top of its own, alone in its batch: both headers, and a length before each
   * part.
   */
  private val Overhead = 61 + 21 + 5 * 3
  private def length(b: Array[Byte]): Int = if (b == null) 0 else b.length
  private def size(key: Array[Byte], value: Array[Byte], headers: Array[Header]): Int = {
    var n = Overhead + length(key) + length(value)
    headers.foreach(h => n += 10 + h.key.length * 3 + length(h.value))
    n
  }

  private val NoHeaders = Array.empty[Header]

  def explained(place: KafkaPlace, e: Throwable): Throwable = Causes.of(e) match {
    case r @ (_: RecordTooLargeException | _: InvalidTimestampException | _: InvalidRecordException) =>
      refused(place, r)
    case _ if Causes.isPassing(e) => Retry.gone(place, "Write", e)
    case _ => place.errors.explain("Write", e)
  }

  /** The broker rejects what the application could not check in advance. */
  private def refused(place: KafkaPlace, e: Throwable): KafkaStopped = new KafkaStopped(KafkaStopped.Topic,
    s"Kafka rejects a record that the application '${place.application}' writes. Found: ${Causes.sentence(e)} " +
    "Correct the topic's settings. To let the production handler decide on such records, " +
    "allow the application the operation DescribeConfigs on the topic.", e)
}

/** One transaction per lane. A lane that has written this batch before writes nothing. */
final class TransactionalOutput(place: KafkaPlace, sources: Array[String], query: String, partition: Int, epoch: Long)
    extends KafkaOutput(place) {
  private val begun = new Array[Lane](place.lanes)
  private val isDone = new Array[Boolean](place.lanes)

  private def laneOf(row: UnsafeRow): Int =
    if (place.byTask) partition
    else {
      val source = row.getInt(Layout.Source)
      place.laneOf(sources(SourceNumber.topic(source)), SourceNumber.partition(source))
    }

  private def lane(n: Int): Lane = {
    if (begun(n) == null && !isDone(n)) {
      val l = Lanes.of(place, n)
      if (l.isDone(query, epoch)) isDone(n) = true
      else {
        try l.begin() catch { case e: Throwable => Lanes.drop(place, l); throw e }
        begun(n) = l
      }
    }
    begun(n)
  }

  override def add(topic: String, to: Int, ts: Long, key: Span, value: Span, headers: Array[(Array[Byte], Array[Byte])],
      row: UnsafeRow): Unit = {
    val l = lane(laneOf(row))
    if (l != null) send(l.producer, topic, to, ts, key, value, headers)
  }

  override def commit(): Array[StagedSegment] = {
    begun.indices.foreach { n =>
      val l = begun(n)
      if (l != null) {
        // Only the mark shows whether a failed commit took effect: the next attempt reads it.
        try l.commit(query, epoch) catch { case e: Throwable => begun(n) = null; Lanes.drop(place, l); throw e }
        begun(n) = null
      }
    }
    close()
    Array.empty
  }

  override protected def explained(e: Throwable): Throwable =
    begun.find(_ != null).map(_.explained(e)).getOrElse(super.explained(e))

  override def abort(): Unit = {
    close()
    begun.indices.foreach { n =>
      val l = begun(n)
      begun(n) = null
      // After a failure or an interrupt the next lane aborts the transaction.
      if (l != null && (!isHealthy || Thread.currentThread.isInterrupted)) Lanes.drop(place, l)
      else if (l != null) try l.abort() catch { case _: Exception => Lanes.drop(place, l) }
    }
  }
}

/** Writes records as they come; a batch that is repeated writes them again. */
final class PlainOutput(place: KafkaPlace) extends KafkaOutput(place) {
  private lazy val producer = PlainProducers.of(place)
  override def add(topic: String, to: Int, ts: Long, key: Span, value: Span, headers: Array[(Array[Byte], Array[Byte])],
      row: UnsafeRow): Unit =
    send(producer, topic, to, ts, key, value, headers)
  override def commit(): Array[StagedSegment] = {
    producer.flush()
    healthy()
    close()
    Array.empty
  }
  override def abort(): Unit = close()
}
