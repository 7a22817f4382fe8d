package brookmere.topics

import java.util.{Map => JMap, Optional, Set => JSet}
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import brookmere.kernel.rows.RawLayout
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

/** What a reader says: `dir`; `topic`, or `topics` as a JSON list; `reset`; `limit`; `layout`. */
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

/** Per topic, the topic's id and the next offset of each partition. */
final case class TopicsOffset(positions: Map[String, (String, Array[Long])]) extends Offset {
  override def json(): String = {
    val root = SourceOptions.json.createObjectNode
    positions.toSeq.sortBy(_._1).foreach { case (topic, (id, offsets)) =>
      val list = root.putObject(topic).put("id", id).putArray("offsets")
      offsets.foreach(o => list.add(o))
    }
    root.toString
  }
}

/** All topics of an application as one stream, whose batches are cut in the order of the records. */
final class TopicsStream(options: SourceOptions) extends SupportsTriggerAvailableNow with ReportsSourceMetrics with MicroBatchStream {
  private def log(topic: String): TopicLog = TopicLog(options.directory, topic)
  private var frozen: Option[TopicsOffset] = None

  private def each(position: PartitionLog => Long): TopicsOffset =
    TopicsOffset(options.topics.map { t =>
      val m = log(t).manifest()
      t -> (m.id, m.partitions.map(position))
    }.toMap)

  def earliest(): TopicsOffset = each(_.start)
  def latest(): TopicsOffset = each(_.end)

  override def initialOffset(): Offset = options.reset match {
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

  override def deserializeOffset(json: String): TopicsOffset = {
    val root = SourceOptions.json.readTree(json)
    TopicsOffset(root.properties.asScala.map { e =>
      e.getKey -> (e.getValue.path("id").asText, e.getValue.path("offsets").elements.asScala.map(_.asLong).toArray)
    }.toMap)
  }

  override def latestOffset(): Offset = throw new UnsupportedOperationException("latestOffset(start, limit) is used")
  override def reportLatestOffset(): Offset = latest()
  override def prepareForTriggerAvailableNow(): Unit = frozen = Some(latest())

  override def latestOffset(from: Offset, unused: ReadLimit): Offset = {
    val start = complete(read(from))
    if (Holds.isHeld(options.application)) return from
    val end = frozen.getOrElse(latest())
    val most = options.limit
    val waiting = options.topics.filterNot(options.whole).flatMap { t => val (_, s) = start.positions(t); end.positions(t)._2.zipWithIndex.map { case (e, p) => (t, p, s(p), e) } }
    if (most <= 0 || waiting.iterator.map(w => w._4 - w._3).sum <= most) end else cut(start, end, waiting, most)
  }

  private def cut(start: TopicsOffset, end: TopicsOffset, waiting: Array[(String, Int, Long, Long)], most: Int): TopicsOffset = {
    val seen = waiting.map { case (t, p, s, e) => Waiting.of(log(t), p, s, e, math.min(most.toLong, e - s).toInt) }
    val next = Cut.take(seen, most).zip(seen).map { case (n, w) => w.next(n) }
    val positions = waiting.zip(next).groupBy(_._1._1).map { case (t, parts) => t -> (end.positions(t)._1, parts.sortBy(_._1._2).map(_._2)) }
    TopicsOffset(end.positions ++ positions)
  }

  /** Where to read on, for all topics: new ones begin as at a first start; what is gone is told. */
  private def complete(from: TopicsOffset): TopicsOffset = {
    lazy val first = read(initialOffset())
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
    Bins.of(ranges, options.cores).map(b => TopicsPartition(b): InputPartition)
  }

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
    Map("lag" -> lag.toString).asJava
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

final case class TopicsPartition(ranges: Array[TopicRange]) extends InputPartition

final class TopicsReaders(raw: Boolean) extends PartitionReaderFactory {
  override def createReader(p: InputPartition): PartitionReader[InternalRow] = {
    val ranges = p.asInstanceOf[TopicsPartition].ranges
    val rows = if (raw) new RawRows(ranges) else new KafkaRows(ranges)
    new PartitionReader[InternalRow] {
      override def next(): Boolean = rows.advance()
      override def get(): InternalRow = rows.row
      override def close(): Unit = ()
    }
  }
}
