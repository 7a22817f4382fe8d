package brookmere.kernel.kafka

import java.util.Collections
import java.util.concurrent.TimeUnit

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.{ListConsumerGroupOffsetsOptions, ListConsumerGroupOffsetsSpec}
import org.apache.kafka.clients.consumer.OffsetAndMetadata
import org.apache.kafka.common.TopicPartition

/** The last batch that a lane has written: of which query, and by which start of the application. */
final case class Mark(query: String, batch: Long, run: String) {
  def isDone(of: String, epoch: Long): Boolean = query == of && batch >= epoch
  /** An offset cannot be negative, so it is that of the batch behind. */
  def committed: OffsetAndMetadata = new OffsetAndMetadata(batch + 1, s"$query;$run")
}

object Mark {
  val None: Mark = Mark("", -1L, "")
  def read(o: OffsetAndMetadata): Mark = o.metadata.split(";", -1) match {
    case Array(query, run) => Mark(query, o.offset - 1, run)
    case _ => None
  }
}

/** Reads the marks of a lane. There are several when the program has read other topics before. */
final class Marks(place: KafkaPlace, group: String) {
  /** The marks as they are; a transaction that is being ended may still change them. */
  def committed(): Map[TopicPartition, Mark] = ask(stable = false)

  /**
   * The marks when no transaction can change them any more. Kafka leaves out those that one can, as if
   * there were none. Every place has a mark before a transaction changes it, so what is left out is known.
   */
  def settled(): Map[TopicPartition, Mark] = {
    val deadline = System.nanoTime + TimeUnit.MILLISECONDS.toNanos(place.waitMs)
    var found = ask(stable = true)
    while (!committed().keySet.subsetOf(found.keySet)) {
      if (System.nanoTime > deadline) throw Patience.gone(place, s"the end of a transaction of '$group'", null)
      Thread.sleep(Marks.Pause)
      found = ask(stable = true)
    }
    found
  }

  /** The one that tells how far a query has come, or else any. */
  def of(query: String, found: Map[TopicPartition, Mark]): Option[Mark] =
    found.values.filter(_.query == query).maxByOption(_.batch).orElse(found.values.headOption)

  private def ask(stable: Boolean): Map[TopicPartition, Mark] = Patience.answer(place, "Read") {
    place.admin.listConsumerGroupOffsets(Collections.singletonMap(group, new ListConsumerGroupOffsetsSpec()),
      new ListConsumerGroupOffsetsOptions().requireStable(stable)).partitionsToOffsetAndMetadata(group)
  }.asScala.collect { case (p, o) if o != null => p -> Mark.read(o) }.toMap
}

object Marks {
  private val Pause = 50L
}

/** How far the state directory knows that the application has come; `unfinished` is when a batch was begun that is not finished, or below zero. */
final case class Known(query: String, batch: Long, unfinished: Long) {
  /** Numbers of batches say nothing if the state directory does not know them all, or if no mark tells the last one. */
  def check(place: KafkaPlace, m: Option[Mark]): Mark = {
    if (m.exists(_.isDone(query, batch + 1))) throw new KafkaStopped(KafkaStopped.Stale,
      s"The state directory is older than what the application '${place.application}' has written to Kafka: " +
      s"the last batch it knows has the number $batch, and number ${m.get.batch} is written. " +
      "Start the application on its newest state directory; if that is lost, begin anew under another application.id.")
    if (m.isEmpty && unfinished >= 0 && System.currentTimeMillis - unfinished > Known.ForgottenMs) throw new KafkaStopped(KafkaStopped.Stale,
      s"The application '${place.application}' was ended in the midst of the batch $batch, and whether that was written is not known any more: " +
      s"the consumer groups '${place.application}-sink-...', which tell it, have been deleted. They are kept for offsets.retention.minutes of the brokers. " +
      "Start the application once with processing.guarantee=at_least_once: the batch may then be written twice.")
    m.getOrElse(Mark.None)
  }
}

object Known {
  /** Marks of lanes that write nothing expire as well. So long they are there for sure. */
  private val ForgottenMs = TimeUnit.DAYS.toMillis(1)
}
