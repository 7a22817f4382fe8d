package brookmere.kernel.transport

import java.util.{Map => JMap, Optional}

import scala.jdk.CollectionConverters._

import brookmere.kernel.rows.Ticks
import brookmere.kernel.topics.{Tick, TopicRange}

import org.apache.spark.sql.connector.read.InputPartition
import org.apache.spark.sql.connector.read.streaming._

/** Records of a partition that wait to be read, from `start` up to but not including `end`. */
final case class Backlog(topic: String, partition: Int, start: Long, end: Long)

/** All topics of an application as one stream, whose batches are cut in the order of the records. */
abstract class RecordStream(options: SourceOptions)
    extends SupportsTriggerAvailableNow with ReportsSourceMetrics with MicroBatchStream {
  private var frozen: Option[TopicsOffset] = None
  private var frozenWall = 0L
  /** The ends of the partitions as the current batch sees them. */
  private var seen: TopicsOffset = null
  /** How many rows of the last planned batch are not records. */
  @volatile private var ticks = 0

  def earliest(): TopicsOffset
  def latest(): TopicsOffset

  /** Where to resume, for all topics: new ones start as at a first start, missing ones are reported. */
  protected def complete(from: TopicsOffset): TopicsOffset

  /** Per backlog, where to stop so that about `most` records are taken, the first ones in the order of all. */
  protected def cut(waiting: Array[Backlog], most: Int): Array[Long]

  /** The ranges of records that each Spark task reads. */
  protected def bins(ranges: Array[TopicRange]): Array[Array[TopicRange]]

  protected def partition(ranges: Array[TopicRange], tick: Option[Tick]): InputPartition

  override def initialOffset(): Offset = options.begin match {
    case Some(json) => val from = TopicsOffset.read(json); complete(from).copy(clock = from.clock)
    case None => firstOffset()
  }

  protected def firstOffset(): TopicsOffset = options.reset match {
    case "latest" => latest()
    case "earliest" => earliest()
    case _ => throw new IllegalStateException(
      "The application has not read anything yet, and auto.offset.reset is none. Set it to earliest or latest.")
  }

  /** After a restart Spark passes offsets as it has read them from the checkpoint. */
  protected def read(o: Offset): TopicsOffset = o match {
    case t: TopicsOffset => t
    case other => deserializeOffset(other.json)
  }

  override def deserializeOffset(json: String): TopicsOffset = TopicsOffset.read(json)

  override def latestOffset(): Offset = throw new UnsupportedOperationException("latestOffset(start, limit) is used")
  override def reportLatestOffset(): Offset = seen
  override def prepareForTriggerAvailableNow(): Unit = {
    frozen = Some(latest())
    frozenWall = System.currentTimeMillis
  }

  override def latestOffset(from: Offset, unused: ReadLimit): Offset = {
    val start = complete(read(from))
    if (options.stay) return start.copy(clock = read(from).clock)
    if (Draining.contains(options.application)) return from
    val end = frozen.getOrElse(latest())
    seen = end
    val most = options.limit
    val waiting = options.topics.filterNot(options.whole).flatMap { t =>
      val (_, s) = start.positions(t)
      end.positions(t)._2.zipWithIndex.map { case (e, p) => Backlog(t, p, s(p), e) }
    }
    val isCut = most > 0 && waiting.iterator.map(w => w.end - w.start).sum > most
    withClock(read(from), if (isCut) shortened(end, waiting, cut(waiting, most)) else end, isCut)
  }

  private def shortened(end: TopicsOffset, waiting: Array[Backlog], next: Array[Long]): TopicsOffset = {
    val positions = waiting.zip(next).groupBy(_._1.topic).map { case (t, parts) =>
      t -> (end.positions(t)._1, parts.sortBy(_._1.partition).map(_._2))
    }
    TopicsOffset(end.positions ++ positions)
  }

  /** Adds the wall clock to the end of a batch. Without new records there is a batch only when a tick is due. */
  private def withClock(from: TopicsOffset, end: TopicsOffset, waiting: Boolean): TopicsOffset =
    if (!options.wall) end
    else {
      val before = from.clock.map(_.wall).getOrElse(0L)
      // A clock that was set back does not move until it has caught up.
      val now = math.max(before, if (frozen.isDefined) frozenWall else System.currentTimeMillis)
      val isTime = options.tick > 0 && now - before >= options.tick
      if (end.isSame(from) && !isTime) from else end.copy(clock = Some(BatchClock(now, waiting)))
    }

  override def planInputPartitions(from: Offset, to: Offset): Array[InputPartition] = {
    val start = complete(read(from))
    val end = read(to)
    val ranges = options.topics.zipWithIndex.flatMap { case (t, n) =>
      val s = start.positions(t)._2
      end.positions.get(t).toSeq.flatMap(_._2.zipWithIndex.collect {
        case (e, p) if e > s(p) => TopicRange(t, n, p, s(p), e)
      })
    }
    val found = bins(ranges)
    val clock = if (options.wall) end.clock else None
    val all = if (clock.isDefined && found.isEmpty) Array(Array.empty[TopicRange]) else found
    ticks = if (clock.isDefined) all.length else 0
    // Every Spark task knows the time; one of them sends it to the later stages.
    all.zipWithIndex.map { case (b, i) => partition(b, clock.map(t => Tick(t.wall, kindOf(t, first = i == 0)))) }
  }

  private def kindOf(t: BatchClock, first: Boolean): Long =
    if (!first || options.tick <= 0) Ticks.Tell else if (t.waiting) Ticks.TickBusy else Ticks.Tick

  override def commit(end: Offset): Unit = ()
  override def stop(): Unit = Draining.end(options.application)

  override def metrics(consumed: Optional[Offset]): JMap[String, String] = {
    val lag = consumed.map[Long] { c =>
      val at = read(c).positions
      latest().positions.iterator.map { case (t, (_, ends)) =>
        val o = at.get(t).map(_._2).getOrElse(Array.empty[Long])
        ends.zipWithIndex.map { case (e, p) => e - (if (p < o.length) o(p) else 0L) }.sum
      }.sum
    }.orElse(0L)
    Map("lag" -> lag.toString, "ticks" -> ticks.toString).asJava
  }
}
