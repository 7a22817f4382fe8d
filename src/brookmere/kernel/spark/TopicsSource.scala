package brookmere.topics

import java.util.{Map => JMap, Optional, Set => JSet}
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import brookmere.kernel.rows.{RawLayout, Ticks}
import brookmere.kernel.topics._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Embedded topics as a source and a sink of Spark: `format("brookmere.topics")`. */
final class DefaultSource extends TableProvider {
  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    if (options.getOrDefault("layout", "kafka") == "raw") RawLayout.schema else KafkaLayout.schema
  override def getTable(schema: StructType, partitioning: Array[Transform], properties: JMap[String, String]): Table = new TopicsTable(schema)
}

final class TopicsTable(override val schema: StructType) extends Table with SupportsRead with SupportsWrite {
  override def name: String = "brookmere.topics"
  override def capabilities: JSet[TableCapability] = java.util.EnumSet.of(TableCapability.BATCH_READ, TableCapability.MICRO_BATCH_READ,
    TableCapability.STREAMING_WRITE, TableCapability.ACCEPT_ANY_SCHEMA)
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder = () => new TopicsScan(schema, new SourceOptions(options))
  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = TopicsWrite.builder(info)
}

/**
 * What a reader says: `dir`; `topic`, or `topics` as a JSON list; `reset`; `limit`; `layout`. With `wall`
 * batches tell the wall clock; with `tick`, in milliseconds, it starts a batch where no record does.
 */
final class SourceOptions(o: CaseInsensitiveStringMap) extends Serializable {
  private def list(name: String): Array[String] =
    if (o.containsKey(name)) SourceOptions.json.readValue(o.get(name), classOf[Array[String]]) else Array.empty
  private def need(name: String): String = Option(o.get(name)).getOrElse(throw new IllegalArgumentException(s"the option '$name' is missing"))
  val directory: String = need("dir")
  val topics: Array[String] = if (o.containsKey("topic")) Array(o.get("topic")) else list("topics")
  if (topics.isEmpty) throw new IllegalArgumentException("no topic was named: give the option 'topic'")
  /** Topics that are always read to their end. */
  val whole: Set[String] = list("whole").toSet
  val reset: String = o.getOrDefault("reset", "earliest")
  val limit: Int = o.getInt("limit", 0)
  val raw: Boolean = o.getOrDefault("layout", "kafka") == "raw"
  val application: String = o.getOrDefault("application", "")
  val lost: String = o.getOrDefault("lost", "fail")
  val cores: Int = o.getInt("cores", 2)
  val tick: Long = o.getLong("tick", 0L)
  /** Where to begin, instead of at the beginning; topics that are not named there begin as `reset` says. */
  val begin: Option[String] = Option(o.get("begin")).filter(_.nonEmpty)
  /** Reads nothing: the one batch ends where it begins. */
  val stay: Boolean = o.getBoolean("stay", false)
  val wall: Boolean = o.getBoolean("wall", false) || tick > 0
}

object SourceOptions {
  val json = new ObjectMapper
}

final class TopicsScan(schema: StructType, options: SourceOptions) extends Scan {
  override def readSchema(): StructType = schema
  override def description(): String = s"embedded topics ${options.topics.mkString(", ")}"
  override def toMicroBatchStream(checkpointLocation: String): MicroBatchStream = new TopicsStream(options)
  override def toBatch: Batch = {
    val stream = new TopicsStream(options)
    new Batch {
      override def planInputPartitions(): Array[InputPartition] = stream.planInputPartitions(stream.earliest(), stream.latest())
      override def createReaderFactory(): PartitionReaderFactory = stream.createReaderFactory()
    }
  }
}

/** The wall clock of a batch, and whether the batch left records waiting. */
final case class Told(wall: Long, waiting: Boolean)

/**
 * Per topic, the topic's id and the next offset of each partition; and the wall clock of the batch
 * that ends here, so that the batch has the same time when it is done again.
 */
final case class TopicsOffset(positions: Map[String, (String, Array[Long])], told: Option[Told] = None) extends Offset {
  override def json(): String = {
    val root = SourceOptions.json.createObjectNode
    told.foreach(t => root.putObject(TopicsOffset.Clock).put("wall", t.wall).put("waiting", t.waiting))
    positions.toSeq.sortBy(_._1).foreach { case (topic, (id, offsets)) =>
      val list = root.putObject(topic).put("id", id).putArray("offsets")
      offsets.foreach(o => list.add(o))
    }
    root.toString
  }

  def stands(o: TopicsOffset): Boolean =
    positions.keySet == o.positions.keySet && positions.forall { case (t, (id, at)) =>
      val (other, there) = o.positions(t)
      id == other && at.sameElements(there)
    }
}

object TopicsOffset {
  /** No topic can have this name. */
  private val Clock = "$clock"

  def read(json: String): TopicsOffset = {
    val root = SourceOptions.json.readTree(json)
    val clock = root.path(Clock)
    TopicsOffset(root.properties.asScala.collect { case e if e.getKey != Clock =>
      e.getKey -> (e.getValue.path("id").asText, e.getValue.path("offsets").elements.asScala.map(_.asLong).toArray)
    }.toMap, if (clock.isMissingNode) None else Some(Told(clock.path("wall").asLong, clock.path("waiting").asBoolean)))
  }
}

/** All topics of an application as one stream, whose batches are cut in the order of the records. */
final class TopicsStream(options: SourceOptions) extends SupportsTriggerAvailableNow with ReportsSourceMetrics with MicroBatchStream {
  private def log(topic: String): TopicLog = TopicLog(options.directory, topic)
  private var frozen: Option[TopicsOffset] = None
  private var frozenWall = 0L
  /** How many rows of the batch planned last are no records. */
  @volatile private var ticks = 0

  private def each(position: PartitionLog => Long): TopicsOffset =
    TopicsOffset(options.topics.map { t =>
      val m = log(t).manifest()
      t -> (m.id, m.partitions.map(position))
    }.toMap)

  def earliest(): TopicsOffset = each(_.start)
  def latest(): TopicsOffset = each(_.end)

  override def initialOffset(): Offset = options.begin match {
    case Some(json) => val from = TopicsOffset.read(json); complete(from).copy(told = from.told)
    case None => firstOffset()
  }

  private def firstOffset(): TopicsOffset = options.reset match {
    case "latest" => latest()
    case "earliest" => earliest()
    case _ => throw new IllegalStateException(
      "The application has read nothing yet, and auto.offset.reset is none. Set it to earliest or latest.")
  }

  /** After a restart Spark hands over offsets as it has read them. */
  private def read(o: Offset): TopicsOffset = o match {
    case t: TopicsOffset => t
    case other => deserializeOffset(other.json)
  }

  override def deserializeOffset(json: String): TopicsOffset = TopicsOffset.read(json)

  override def latestOffset(): Offset = throw new UnsupportedOperationException("latestOffset(start, limit) is used")
  override def reportLatestOffset(): Offset = latest()
  override def prepareForTriggerAvailableNow(): Unit = {
    frozen = Some(latest())
    frozenWall = System.currentTimeMillis
  }

  override def latestOffset(from: Offset, unused: ReadLimit): Offset = {
    val start = complete(read(from))
    if (options.stay) return start.copy(told = read(from).told)
    if (Holds.isHeld(options.application)) return from
    val end = frozen.getOrElse(latest())
    val most = options.limit
    val waiting = options.topics.filterNot(options.whole).flatMap { t => val (_, s) = start.positions(t); end.positions(t)._2.zipWithIndex.map { case (e, p) => (t, p, s(p), e) } }
    val isCut = most > 0 && waiting.iterator.map(w => w._4 - w._3).sum > most
    told(read(from), if (isCut) cut(start, end, waiting, most) else end, isCut)
  }

  /** Adds the wall clock to the end of a batch. Without new records it makes a batch only when it is time for a tick. */
  private def told(from: TopicsOffset, end: TopicsOffset, waiting: Boolean): TopicsOffset =
    if (!options.wall) end
    else {
      val before = from.told.map(_.wall).getOrElse(0L)
      // A clock that was set back stands still until it has caught up.
      val now = math.max(before, if (frozen.isDefined) frozenWall else System.currentTimeMillis)
      val isTime = options.tick > 0 && now - before >= options.tick
      if (end.stands(from) && !isTime) from else end.copy(told = Some(Told(now, waiting)))
    }

  private def cut(start: TopicsOffset, end: TopicsOffset, waiting: Array[(String, Int, Long, Long)], most: Int): TopicsOffset = {
    val seen = waiting.map { case (t, p, s, e) => Waiting.of(log(t), p, s, e, math.min(most.toLong, e - s).toInt) }
    val next = Cut.take(seen, most).zip(seen).map { case (n, w) => w.next(n) }
    val positions = waiting.zip(next).groupBy(_._1._1).map { case (t, parts) => t -> (end.positions(t)._1, parts.sortBy(_._1._2).map(_._2)) }
    TopicsOffset(end.positions ++ positions)
  }

  /** Where to read on, for all topics: new ones begin as at a first start; what is gone is told. */
  private def complete(from: TopicsOffset): TopicsOffset = {
    lazy val first = firstOffset()
    TopicsOffset(options.topics.map { t =>
      val m = log(t).manifest()
      t -> (from.positions.get(t) match {
        case None => first.positions(t)
        case Some((id, offsets)) =>
          if (id != m.id) throw new IllegalStateException(
            s"The topic '$t' was deleted and created anew since the application read it. " +
            "Its place in the old topic means nothing in the new one: start the application with an empty state directory or under a new application.id.")
          (id, m.partitions.zipWithIndex.map { case (p, i) =>
            val at = if (i < offsets.length) offsets(i) else 0L
            if (at < p.start && options.lost != "continue") throw new IllegalStateException(
              s"Retention removed records of the topic '$t' that were not read yet: partition $i begins at offset ${p.start}, and the application stands at $at. " +
              "Go on without them by setting data.loss.handler to continue, or give the topic a longer retention.ms.")
            math.max(at, p.start)
          })
      })
    }.toMap)
  }

  override def planInputPartitions(from: Offset, to: Offset): Array[InputPartition] = {
    val start = complete(read(from))
    val end = read(to)
    val ranges = options.topics.zipWithIndex.flatMap { case (t, n) =>
      val s = start.positions(t)._2
      end.positions.get(t).toSeq.flatMap(_._2.zipWithIndex.collect { case (e, p) if e > s(p) => TopicRange(options.directory, t, n, p, s(p), e) })
    }
    val bins = Bins.of(ranges, options.cores)
    val told = if (options.wall) end.told else None
    val all = if (told.isDefined && bins.isEmpty) Array(Array.empty[TopicRange]) else bins
    ticks = if (told.isDefined) all.length else 0
    // Every Spark task knows the time; one of them tells it to the stages behind.
    all.zipWithIndex.map { case (b, i) => TopicsPartition(b, told.map(t => Tick(t.wall, kindOf(t, first = i == 0)))): InputPartition }
  }

  private def kindOf(t: Told, first: Boolean): Long =
    if (!first || options.tick <= 0) Ticks.Tell else if (t.waiting) Ticks.TickBusy else Ticks.Tick

  override def createReaderFactory(): PartitionReaderFactory = new TopicsReaders(options.raw)
  override def commit(end: Offset): Unit = ()
  override def stop(): Unit = Holds.release(options.application)

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

/** Few records go to one Spark task, many to as many as there are cores: starting a task costs more than reading. */
object Bins {
  private val Few = 4096L

  def of(ranges: Array[TopicRange], cores: Int): Array[Array[TopicRange]] = {
    val total = ranges.iterator.map(r => r.end - r.start).sum
    val n = if (total <= Few) 1 else math.max(1, math.min(cores, ranges.length))
    val bins = Array.fill(n)(Array.newBuilder[TopicRange])
    val sizes = new Array[Long](n)
    ranges.sortBy(r => -(r.end - r.start)).foreach { r =>
      val least = sizes.indices.minBy(sizes(_))
      bins(least) += r
      sizes(least) += r.end - r.start
    }
    bins.map(_.result().sortBy(r => (r.number, r.partition))).filter(_.nonEmpty)
  }
}

/** Applications that are about to stop: they get no new records, so the batch at hand is their last. */
object Holds {
  private val held = ConcurrentHashMap.newKeySet[String]()
  def hold(application: String): Unit = held.add(application)
  def release(application: String): Unit = held.remove(application)
  def isHeld(application: String): Boolean = held.contains(application)
}

final case class TopicsPartition(ranges: Array[TopicRange], tick: Option[Tick] = None) extends InputPartition

final class TopicsReaders(raw: Boolean) extends PartitionReaderFactory {
  override def createReader(p: InputPartition): PartitionReader[InternalRow] = {
    val part = p.asInstanceOf[TopicsPartition]
    val rows = if (raw) new RawRows(part.ranges, part.tick) else new KafkaRows(part.ranges)
    new PartitionReader[InternalRow] {
      override def next(): Boolean = rows.advance()
      override def get(): InternalRow = rows.row
      override def close(): Unit = ()
    }
  }
}
