package brookmere.kernel.transport

import java.util.{Map => JMap, Set => JSet}

import brookmere.kernel.rows.RawLayout
import brookmere.kernel.topics._

import com.fasterxml.jackson.databind.ObjectMapper
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming._
import org.apache.spark.sql.connector.write.{LogicalWriteInfo, WriteBuilder}
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Embedded topics as a Spark source and sink: `format("brookmere.topics")`. */
final class TopicsSource extends TableProvider with DataSourceRegister {
  override def shortName(): String = "brookmere.topics"
  override def inferSchema(options: CaseInsensitiveStringMap): StructType =
    if (options.getOrDefault("layout", "kafka") == "raw") RawLayout.schema else KafkaLayout.schema
  override def getTable(schema: StructType, partitioning: Array[Transform], properties: JMap[String, String]): Table =
    new TopicsTable(schema)
}

final class TopicsTable(override val schema: StructType) extends Table with SupportsRead with SupportsWrite {
  override def name: String = "brookmere.topics"
  override def capabilities: JSet[TableCapability] =
    java.util.EnumSet.of(TableCapability.BATCH_READ, TableCapability.MICRO_BATCH_READ,
      TableCapability.STREAMING_WRITE, TableCapability.ACCEPT_ANY_SCHEMA)
  override def newScanBuilder(options: CaseInsensitiveStringMap): ScanBuilder =
    () => new TopicsScan(schema, new SourceOptions(options))
  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = TopicsWrite.builder(info)
}

/**
 * The options of a reader: `dir`; `topic`, or `topics` as a JSON list; `reset`; `limit`; `layout`. With `wall` batches
 * carry the wall clock; with `tick`, in milliseconds, the clock alone can start a batch.
 */
final class SourceOptions(o: CaseInsensitiveStringMap) extends Serializable {
  private def list(name: String): Array[String] =
    if (o.containsKey(name)) SourceOptions.json.readValue(o.get(name), classOf[Array[String]]) else Array.empty
  private def need(name: String): String =
    Option(o.get(name)).getOrElse(throw new IllegalArgumentException(s"the option '$name' is missing"))
  def directory: String = need("dir")
  val topics: Array[String] = if (o.containsKey("topic")) Array(o.get("topic")) else list("topics")
  if (topics.isEmpty) throw new IllegalArgumentException("no topic given: set the option 'topic'")
  /** Topics that are always read to their end. */
  val whole: Set[String] = list("whole").toSet
  val reset: String = o.getOrDefault("reset", "earliest")
  val limit: Int = o.getInt("limit", 0)
  val raw: Boolean = o.getOrDefault("layout", "kafka") == "raw"
  val application: String = o.getOrDefault("application", "")
  val lost: String = o.getOrDefault("lost", "fail")
  val cores: Int = o.getInt("cores", 2)
  val tick: Long = o.getLong("tick", 0L)
  /** Where to start instead of at the beginning; topics that it does not name start as `reset` says. */
  val begin: Option[String] = Option(o.get("begin")).filter(_.nonEmpty)
  /** Reads nothing: the only batch is empty. */
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
      override def planInputPartitions(): Array[InputPartition] =
        stream.planInputPartitions(stream.earliest(), stream.latest())
      override def createReaderFactory(): PartitionReaderFactory = stream.createReaderFactory()
    }
  }
}

/** The records of embedded topics. */
final class TopicsStream(options: SourceOptions) extends RecordStream(options) {
  private def log(topic: String): TopicLog = TopicLog(options.directory, topic)

  private def each(position: PartitionLog => Long): TopicsOffset =
    TopicsOffset(options.topics.map { t =>
      val m = log(t).manifest()
      t -> (m.id, m.partitions.map(position))
    }.toMap)

  override def earliest(): TopicsOffset = each(_.start)
  override def latest(): TopicsOffset = each(_.end)

  override protected def cut(waiting: Array[Backlog], most: Int): Array[Long] = {
    val seen = waiting.map { w =>
      Waiting.of(log(w.topic), w.partition, w.start, w.end, math.min(most.toLong, w.end - w.start).toInt)
    }
    Cut.take(seen, most).zip(seen).map { case (n, w) => w.next(n) }
  }

  override protected def complete(from: TopicsOffset): TopicsOffset = {
    lazy val first = firstOffset()
    TopicsOffset(options.topics.map { t =>
      val m = log(t).manifest()
      t -> (from.positions.get(t) match {
        case None => first.positions(t)
        case Some((id, offsets)) =>
          if (id != m.id) throw new IllegalStateException(
            s"The topic '$t' was deleted and recreated since the application read it. " +
            "Offsets of the old topic mean nothing in the new one: start the application with an empty state " +
            "directory or under a new application.id.")
          (id, m.partitions.zipWithIndex.map { case (p, i) =>
            val at = if (i < offsets.length) offsets(i) else 0L
            if (at < p.start && options.lost != "continue") throw new IllegalStateException(
              s"Retention removed records of the topic '$t' that were not read yet: partition $i begins " +
              s"at offset ${p.start}, and the application is at $at. " +
              "Set data.loss.handler to continue to skip them, or give the topic a longer retention.ms.")
            math.max(at, p.start)
          })
      })
    }.toMap)
  }

  override protected def bins(ranges: Array[TopicRange]): Array[Array[TopicRange]] = Bins.of(ranges, options.cores)
  override protected def partition(ranges: Array[TopicRange], tick: Option[Tick]): InputPartition =
    TopicsPartition(options.directory, ranges, tick)
  override def createReaderFactory(): PartitionReaderFactory = new TopicsReaders(options.raw)
}

/** Few records go to one Spark task, many to one per core: starting a task costs more than reading. */
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

final case class TopicsPartition(directory: String, ranges: Array[TopicRange], tick: Option[Tick] = None)
    extends InputPartition

final class TopicsReaders(raw: Boolean) extends PartitionReaderFactory {
  override def createReader(p: InputPartition): PartitionReader[InternalRow] = {
    val part = p.asInstanceOf[TopicsPartition]
    val rows =
      if (raw) new RawRows(part.directory, part.ranges, part.tick)
      else new KafkaRows(part.directory, part.ranges)
    new PartitionReader[InternalRow] {
      override def next(): Boolean = rows.advance()
      override def get(): InternalRow = rows.row
      override def close(): Unit = ()
    }
  }
}
