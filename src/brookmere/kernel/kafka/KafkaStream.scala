package brookmere.kernel.kafka

import java.util.concurrent.TimeUnit
import java.util.regex.Pattern

import scala.jdk.CollectionConverters._

import brookmere.kernel.topics.{Tick, TopicRange}
import brookmere.kernel.transport.{Backlog, RecordStream, SourceOptions, TopicsOffset}

import org.apache.kafka.clients.admin.{ListOffsetsOptions, OffsetSpec, TopicDescription}
import org.apache.kafka.common.{IsolationLevel, TopicPartition}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming.{Offset, ReadLimit}

/** The topics of an application on Kafka; reads committed records only. */
final class KafkaStream(options: SourceOptions, place: KafkaPlace) extends RecordStream(options) {
  private val partitions: Array[TopicPartition] =
    options.topics.flatMap(t => Array.tabulate(place.partitions(t))(p => new TopicPartition(t, p)))
  private val committed = new ListOffsetsOptions(IsolationLevel.READ_COMMITTED)
    .timeoutMs(math.min(KafkaStream.AnswerMs, place.waitMs).toInt)
  private val lookNanos = TimeUnit.MILLISECONDS.toNanos(math.min(KafkaStream.LookMs,
    place.admins.get("metadata.max.age.ms", KafkaStream.LookMs.toString).toLong))
  private val matching = place.patterns.map(Pattern.compile)
  /** Topics that match a pattern and will be read after the next start. */
  private var unread: Set[String] = Set.empty
  private var ids: Map[String, String] = Map.empty
  private var looked = 0L
  private var shortSince = 0L
  /** The time at which the previous batch was cut. */
  private var lastCut = -1L

  private def offsets(of: Seq[TopicPartition], spec: OffsetSpec): Map[TopicPartition, Long] =
    Retry.answer(place, "Describe", options.topics.toSeq, there = true, meanwhile = () => describe())(
      place.admin.listOffsets(of.map(_ -> spec).toMap.asJava, committed).all())
        .asScala.map { case (p, r) => p -> r.offset }.toMap

  private def positions(at: Map[TopicPartition, Long]): TopicsOffset = {
    look()
    TopicsOffset(options.topics.map(t =>
      t -> (ids(t), Array.tabulate(place.partitions(t))(p => at(new TopicPartition(t, p))))).toMap)
  }

  override def earliest(): TopicsOffset = positions(offsets(partitions.toSeq, OffsetSpec.earliest()))
  override def latest(): TopicsOffset = positions(offsets(partitions.toSeq, OffsetSpec.latest()))

  /**
   * Logs do not become shorter, unless a topic was created again or brokers have lost records. A broker that has just
   * become the leader may need a moment to know where its logs end.
   */
  override def latestOffset(from: Offset, limit: ReadLimit): Offset = {
    val end = super.latestOffset(from, limit)
    val (before, after) = (read(from).positions, read(end).positions)
    val short = for {
      (t, (_, at)) <- before.toSeq
      (_, next) <- after.get(t).toSeq
      p <- at.indices if p < next.length && next(p) < at(p)
    } yield (t, p, at(p))
    if (short.isEmpty) {
      shortSince = 0
      return end
    }
    if (shortSince == 0) {
      shortSince = System.nanoTime
      looked = 0
      look()
    } else if (System.nanoTime - shortSince > KafkaStream.ShortNanos) throw (KafkaStream.shortened _).tupled(short.head)
    from
  }

  /** Checks from time to time whether the topics are still those that the program was planned for. */
  private def look(): Boolean = {
    val now = System.nanoTime
    if (looked != 0 && now - looked < lookNanos) return false
    val found = describe()
    val known = ids
    ids = found.map { case (t, d) => t -> d.topicId.toString }
    known.foreach { case (t, id) => if (id != ids(t)) throw KafkaStream.another(t) }
    found.foreach { case (t, d) =>
      val planned = place.partitions(t)
      if (d.partitions.size > planned) throw new KafkaStopped(KafkaStopped.Topic,
        s"The topic '$t' has grown from $planned to ${d.partitions.size} partitions while the application runs. " +
        "Restart the application: it then reads all of them, or reports why it cannot.")
    }
    if (matching.nonEmpty) lookForMore()
    looked = now
    true
  }

  private def describe(): Map[String, TopicDescription] =
    Retry.answer(place, "Describe", options.topics.toSeq, there = true)(
      place.admin.describeTopics(options.topics.toSeq.asJava).allTopicNames()).asScala.toMap

  private def lookForMore(): Unit = {
    val all = Retry.answer(place, "Describe")(place.admin.listTopics().names()).asScala
    val found = all.filter(t => !place.partitions.contains(t) && matching.exists(_.matcher(t).matches)).toSet
    // The application does not read its own changelogs.
    (found -- unread)
      .filterNot(t => t.startsWith(place.application + "-") && t.endsWith("-changelog")).toSeq.sorted.foreach(t =>
      Notices.add(place.run, s"The topic '$t' is new and matches a pattern of the program. " +
        "The application reads it after its next start."))
    unread ++= found
  }

  override protected def complete(from: TopicsOffset): TopicsOffset = {
    val isTime = look()
    lazy val first = firstOffset()
    val all = TopicsOffset(options.topics.map { t =>
      t -> (from.positions.get(t) match {
        case None => first.positions(t)
        case Some((id, at)) =>
          if (id != ids(t)) throw KafkaStream.another(t)
          (id, at ++ added(t, at.length))
      })
    }.toMap)
    if (isTime) present(all) else all
  }

  private val reported = new java.util.HashSet[(String, Int, Long)]()

  /** Partitions that were added to a topic are read from their beginning. */
  private def added(topic: String, known: Int): Array[Long] =
    if (known >= place.partitions(topic)) Array.empty
    else {
      val all = (known until place.partitions(topic)).map(p => new TopicPartition(topic, p))
      val starts = offsets(all, OffsetSpec.earliest())
      all.map(starts).toArray
    }

  /** Fails where retention has removed unread records, or skips them if the user asked for that. */
  private def present(from: TopicsOffset): TopicsOffset = {
    val starts = offsets(partitions.toSeq, OffsetSpec.earliest())
    TopicsOffset(from.positions.map { case (t, (id, at)) =>
      t -> (id, at.zipWithIndex.map { case (o, p) =>
        val start = starts(new TopicPartition(t, p))
        if (o < start) {
          if (options.lost != "continue") throw KafkaStream.lost(t, p, o, start)
          if (reported.add((t, p, start))) Notices.add(place.run,
            s"Retention removed records of the topic '$t' that were not read: partition $p continues at $start " +
            s"instead of $o.")
        }
        math.max(o, start)
      })
    })
  }

  /**
   * Finds a time before which about `most` records wait, and stops every partition at its first record that is not
   * older. If more records than that have the same time, those of the first partitions come first.
   */
  override protected def cut(waiting: Array[Backlog], most: Int): Array[Long] = {
    val of = waiting.map(w => new TopicPartition(w.topic, w.partition))
    def at(time: Long): Array[Long] = {
      val found = offsets(of.toSeq, OffsetSpec.forTimestamp(time))
      waiting.zip(of)
        .map { case (w, p) => val o = found(p); if (o < 0) w.end else math.min(math.max(o, w.start), w.end) }
    }
    val (time, next) = new TimeSearch(most, waiting.map(_.start), waiting.map(_.end), at).find(newest(of), lastCut)
    lastCut = time
    next
  }

  private def newest(of: Array[TopicPartition]): Long =
    Retry.answer(place, "Describe", options.topics.toSeq, there = true)(
      place.admin.listOffsets(of.map(_ -> OffsetSpec.maxTimestamp()).toMap.asJava).all())
      .values.asScala.map(_.timestamp).max

  override protected def bins(ranges: Array[TopicRange]): Array[Array[TopicRange]] =
    if (ranges.isEmpty) Array.empty
    else if (ranges.iterator.map(r => r.end - r.start).sum <= KafkaStream.Few) Array(ranges)
    else ranges.groupBy(r => place.laneOf(r.topic, r.partition)).toArray.sortBy(_._1).map(_._2)

  override def planInputPartitions(from: Offset, to: Offset): Array[InputPartition] = {
    KafkaPlaces.planned(place.run, read(to))
    super.planInputPartitions(from, to)
  }

  override protected def partition(ranges: Array[TopicRange], tick: Option[Tick]): InputPartition = {
    val lanes = ranges.map(r => place.laneOf(r.topic, r.partition)).distinct
    KafkaPartition(place, if (lanes.length == 1) lanes.head else KafkaStream.AllLanes, ranges, tick,
      options.lost == "continue")
  }

  override def createReaderFactory(): PartitionReaderFactory = new KafkaReaders
}

object KafkaStream {
  private val LookMs = 30000L
  private val ShortNanos = 30L * 1000 * 1000 * 1000
  private val AnswerMs = 10000L
  /** Up to this many records are read by one Spark task: starting another one costs more. */
  private val Few = 4096L
  val AllLanes: Int = -1

  def another(topic: String): KafkaStopped = new KafkaStopped(KafkaStopped.Topic,
    s"The topic '$topic' was deleted and recreated since the application read it. " +
    "Offsets of the old topic mean nothing in the new one: reset the application with `brookmere reset`, " +
    "or give it a new application.id.")

  def shortened(topic: String, partition: Int, at: Long): KafkaStopped = new KafkaStopped(KafkaStopped.Lost,
    s"The topic '$topic' has lost records that were read already: partition $partition ends before offset $at, " +
    "which is the application's position. Brokers lose records when one without all of them becomes the leader. " +
    "Reset the application with `brookmere reset` to choose where it resumes.")

  def lost(topic: String, partition: Int, at: Long, start: Long): KafkaStopped = new KafkaStopped(KafkaStopped.Lost,
    s"Retention removed records of the topic '$topic' that were not read yet: partition $partition begins at offset " +
    s"$start, and the application is at $at. " +
    "Set data.loss.handler to continue to skip them, or give the topic a longer retention.ms.")
}

/** `lane` is the one all ranges belong to, or AllLanes. */
final case class KafkaPartition(place: KafkaPlace, lane: Int, ranges: Array[TopicRange], tick: Option[Tick],
    skipsLost: Boolean) extends InputPartition

final class KafkaReaders extends PartitionReaderFactory {
  override def createReader(p: InputPartition): PartitionReader[InternalRow] =
    new KafkaReader(p.asInstanceOf[KafkaPartition])
}
