package brookmere.kernel.kafka

import java.util.Collections
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.{ListConsumerGroupOffsetsOptions, ListConsumerGroupOffsetsSpec}
import org.apache.kafka.clients.consumer.OffsetAndMetadata
import org.apache.kafka.common.TopicPartition

/** The last batch that a lane has written: its query, its number, and the run of the application. */
final case class Mark(query: String, batch: Long, run: String) {
  def isDone(of: String, epoch: Long): Boolean = query == of && batch >= epoch
  /** The offset of the next batch, because an offset cannot be negative. */
  def committed: OffsetAndMetadata = new OffsetAndMetadata(batch + 1, s"$query;$run")
}

object Mark {
  val None: Mark = Mark("", -1L, "")
  def read(o: OffsetAndMetadata): Mark = o.metadata.split(";", -1) match {
    case Array(query, run) => Mark(query, o.offset - 1, run)
    case _ => None
  }
}

/** Reads the marks of a lane. There are several if the program has read other topics before. */
final class Marks(place: KafkaPlace, group: String) {
  /** The marks as they are now; a transaction that is ending may still change them. */
  def committed(): Map[TopicPartition, Mark] = ask(stable = false)

  /**
   * The marks once no transaction can change them any more. Kafka omits marks that an open transaction has changed, as
   * if they did not exist. Every partition has a mark before a transaction changes it, so omissions are noticed.
   */
  def settled(): Map[TopicPartition, Mark] = {
    val deadline = System.nanoTime + TimeUnit.MILLISECONDS.toNanos(place.waitMs)
    var found = ask(stable = true)
    while (!committed().keySet.subsetOf(found.keySet)) {
      if (System.nanoTime > deadline) throw Retry.gone(place, s"the end of a transaction of '$group'", null)
      Thread.sleep(Marks.Pause)
      found = ask(stable = true)
    }
    found
  }

  /** The mark that says how far a query has come, or else any. */
  def of(query: String, found: Map[TopicPartition, Mark]): Option[Mark] =
    found.values.filter(_.query == query).maxByOption(_.batch).orElse(found.values.headOption)

  private def ask(stable: Boolean): Map[TopicPartition, Mark] = Retry.answer(place, "Read") {
    place.admin.listConsumerGroupOffsets(Collections.singletonMap(group, new ListConsumerGroupOffsetsSpec()),
      new ListConsumerGroupOffsetsOptions().requireStable(stable)).partitionsToOffsetAndMetadata(group)
  }.asScala.collect { case (p, o) if o != null => p -> Mark.read(o) }.toMap
}

object Marks {
  private val Pause = 50L
}

/**
 * How far the application has come according to its state directory; `unfinished` is the start time of a batch that was
 * not finished, or negative.
 */
final case class Known(query: String, batch: Long, unfinished: Long) {
  /** Batch numbers mean nothing if the state directory does not know them all, or if no mark holds the last one. */
  def check(place: KafkaPlace, m: Option[Mark]): Mark = {
    if (m.exists(_.isDone(query, batch + 1))) throw new KafkaStopped(KafkaStopped.Stale,
      s"The state directory is older than what the application '${place.application}' has written to Kafka: " +
      s"the last batch it knows has the number $batch, and number ${m.get.batch} is written. " +
      "Start the application on its newest state directory; if that is lost, start from scratch with another " +
      "application.id.")
    val isForgotten = unfinished >= 0 && System.currentTimeMillis - unfinished > Known.ForgottenMs
    if (m.isEmpty && isForgotten) throw new KafkaStopped(KafkaStopped.Stale,
      s"The application '${place.application}' ended in the middle of batch $batch, and whether that was written " +
      s"is unknown: the consumer groups '${place.application}-sink-...', which record it, have been deleted. " +
      "Brokers keep them for offsets.retention.minutes. " +
      "Start the application once with processing.guarantee=at_least_once: the batch may then be written twice.")
    m.getOrElse(Mark.None)
  }
}

object Known {
  /** Marks of lanes that write nothing expire as well. They exist at least this long. */
  private val ForgottenMs = TimeUnit.DAYS.toMillis(1)
}
