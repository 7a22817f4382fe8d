package brookmere.kernel.kafka

import java.time.Duration
import java.util.Collections

import scala.jdk.CollectionConverters._

import brookmere.kernel.transport.Original

import org.apache.kafka.clients.consumer.{KafkaConsumer, OffsetOutOfRangeException}
import org.apache.kafka.common.{KafkaException, TopicPartition}
import org.apache.kafka.common.serialization.ByteArrayDeserializer

/** Reads single records again, for dead letters. */
final class OriginalRecords(place: KafkaPlace) {
  private var client: KafkaConsumer[Array[Byte], Array[Byte]] = null

  private def opened(): KafkaConsumer[Array[Byte], Array[Byte]] = {
    if (client == null) {
      val bytes = new ByteArrayDeserializer
      client = new KafkaConsumer(place.consumers.properties(Map.empty, OriginalRecords.Fixed), bytes, bytes)
    }
    client
  }

  /** None if the record is gone or does not arrive in time. */
  def read(topic: String, partition: Int, offset: Long): Option[Original] =
    try place.errors.explained("Read") {
      val c = opened()
      val p = new TopicPartition(topic, partition)
      if (!c.assignment.contains(p)) c.assign(Collections.singletonList(p))
      c.seek(p, offset)
      val deadline = System.nanoTime + OriginalRecords.Seconds * 1000000000L
      while (c.position(p) <= offset && System.nanoTime < deadline) {
        val found = c.poll(Duration.ofMillis(200)).records(p).asScala.find(_.offset >= offset)
        // Another offset means that compaction has removed the record.
        if (found.isDefined) return found.filter(_.offset == offset).map(r => Original(r.timestamp, r.key, r.value,
          if (r.headers.toArray.isEmpty) null else r.headers.toArray.map(h => (h.key.getBytes("UTF-8"), h.value))))
      }
      None
    } catch { case _: OffsetOutOfRangeException => None }

  def close(): Unit = if (client != null) {
    client.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ZERO))
    client = null
  }
}

object OriginalRecords {
  private val Seconds = 30
  private val Fixed = Map("isolation.level" -> "read_committed", "enable.auto.commit" -> "false",
    "auto.offset.reset" -> "none", "max.poll.records" -> "1")
}
