package brookmere.kafka

import java.time.Duration
import java.util.Collections

import scala.jdk.CollectionConverters._

import brookmere.topics.Original

import org.apache.kafka.clients.consumer.{KafkaConsumer, OffsetOutOfRangeException}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.serialization.ByteArrayDeserializer

/** Reads a single record once more, for a dead letter. */
object Originals {
  private val Seconds = 10

  def read(place: KafkaPlace, topic: String, partition: Int, offset: Long): Option[Original] = {
    val bytes = new ByteArrayDeserializer
    val fixed = Map("isolation.level" -> "read_committed", "enable.auto.commit" -> "false", "auto.offset.reset" -> "none", "max.poll.records" -> "1")
    val client = new KafkaConsumer(place.consumers.properties(Map.empty, fixed), bytes, bytes)
    try {
      val p = new TopicPartition(topic, partition)
      client.assign(Collections.singletonList(p))
      client.seek(p, offset)
      val deadline = System.nanoTime + Seconds * 1000000000L
      while (client.position(p) <= offset && System.nanoTime < deadline) {
        val found = client.poll(Duration.ofMillis(200)).records(p).asScala.find(_.offset >= offset)
        // Another offset means that the record was compacted away.
        if (found.isDefined) return found.filter(_.offset == offset).map(r => Original(r.timestamp, r.key, r.value,
          if (r.headers.toArray.isEmpty) null else r.headers.toArray.map(h => (h.key.getBytes("UTF-8"), h.value))))
      }
      None
    } catch { case _: OffsetOutOfRangeException => None }
    finally client.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ZERO))
  }
}
