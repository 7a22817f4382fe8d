package brookmere.kernel.kafka

import java.util.concurrent.{ConcurrentHashMap, TimeUnit}

import scala.jdk.CollectionConverters._

import brookmere.kernel.transport.TopicsOffset

import org.apache.kafka.clients.consumer.OffsetAndMetadata
import org.apache.kafka.common.{KafkaFuture, TopicPartition}

/** Tells the consumer group of the application how far it has come, for everyone who looks at lags. The application itself does not read it. */
object GroupOffsets {
  private val pending = new ConcurrentHashMap[String, KafkaFuture[Void]]()
  private val told = ConcurrentHashMap.newKeySet[String]()
  private val SettleSeconds = 5L

  def commit(place: KafkaPlace, end: TopicsOffset): Unit = {
    val all = end.positions.flatMap { case (t, (_, offsets)) => offsets.toSeq.zipWithIndex.map { case (o, p) => new TopicPartition(t, p) -> new OffsetAndMetadata(o) } }
    val answer = place.admin.alterConsumerGroupOffsets(place.application, all.asJava).all()
    pending.put(place.run, answer.whenComplete { (_, e) =>
      if (e != null && told.add(place.run)) {
        Notices.tell(place.run, s"The offsets of the consumer group '${place.application}' cannot be told to Kafka, so that lags shown there are wrong. Found: ${Causes.sentence(place.refusals.explain("Read", e))}")
      }
    })
  }

  /** Waits for what is under way. */
  def settle(run: String): Unit = {
    told.remove(run)
    val last = pending.remove(run)
    // Whether it failed has been told.
    if (last != null) try last.get(SettleSeconds, TimeUnit.SECONDS) catch { case _: Exception => () }
  }
}
