package brookmere.kernel.kafka

import java.util.concurrent.{ConcurrentHashMap, TimeUnit}

import scala.jdk.CollectionConverters._

import brookmere.kernel.transport.TopicsOffset

import org.apache.kafka.clients.consumer.OffsetAndMetadata
import org.apache.kafka.common.{KafkaFuture, TopicPartition}

/**
 * Commits the application's positions to its consumer group, for tools that show lag. The application does not read
 * them.
 */
object GroupOffsets {
  private val pending = new ConcurrentHashMap[String, KafkaFuture[Void]]()
  private val reported = ConcurrentHashMap.newKeySet[String]()
  private val SettleSeconds = 5L

  def commit(place: KafkaPlace, end: TopicsOffset): Unit = {
    val all = end.positions.flatMap { case (t, (_, offsets)) =>
      offsets.toSeq.zipWithIndex.map { case (o, p) => new TopicPartition(t, p) -> new OffsetAndMetadata(o) }
    }
    val answer = place.admin.alterConsumerGroupOffsets(place.application, all.asJava).all()
    pending.put(place.run, answer.whenComplete { (_, e) =>
      if (e != null && reported.add(place.run)) {
        Notices.add(place.run,
          s"The offsets of the consumer group '${place.application}' cannot be committed to Kafka, " +
          s"so tools show a wrong lag. Found: ${Causes.sentence(place.errors.explain("Read", e))}")
      }
    })
  }

  /** Waits for commits in flight. */
  def settle(run: String): Unit = {
    reported.remove(run)
    val last = pending.remove(run)
    // A failure has been reported already.
    if (last != null) try last.get(SettleSeconds, TimeUnit.SECONDS) catch { case _: Exception => () }
  }
}
