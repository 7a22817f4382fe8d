package brookmere.kernel.transport

import brookmere.kernel.ops.output.Murmur2
import brookmere.kernel.rows._
import brookmere.kernel.topics._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming._
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend
import org.apache.spark.sql.types._
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** The directory of embedded topics, and how many partitions a new topic gets. */
final class EmbeddedPlace(val directory: String, val newPartitions: Int) extends Serializable

object TopicsWrite {
  def builder(info: LogicalWriteInfo): WriteBuilder = new UpdatesBuilder {
    override def build(): Write = new Write {
      override def description(): String = "embedded topics"
      override def toStreaming: StreamingWrite = {
        val name = info.options.get("plan")
        if (name != null) new EmbeddedWrite(name, Sinks.plan(name), Sinks.place[EmbeddedPlace](name), info.queryId)
        else new FrameWrite(info.options, info.schema, info.queryId)
      }
    }
  }
}

/** Every batch appends records, whatever output mode Spark is given. */
abstract class UpdatesBuilder extends WriteBuilder with SupportsTruncate with SupportsStreamingUpdateAsAppend {
  override def truncate(): WriteBuilder =
    throw new UnsupportedOperationException("topics cannot be written in complete mode")
}

/** Writes a topology's records to embedded topics: tasks write segments, the driver adds them to the manifests. */
final class EmbeddedWrite(name: String, plan: SinkPlan, place: EmbeddedPlace, query: String)
    extends TopologyWrite(name, plan) {
  override protected val outputFactory: OutputFactory = new EmbeddedOutputFactory(place)
  override protected def commit(epoch: Long, segments: Seq[StagedSegment]): Unit =
    Staging.commit(place.directory, segments, BatchWriter(plan.application, query, epoch))
  override protected def discard(segments: Seq[StagedSegment]): Unit = Staging.discard(place.directory, segments)
}

final class EmbeddedOutputFactory(place: EmbeddedPlace) extends OutputFactory {
  override def output(partition: Int, epoch: Long): Output = new EmbeddedOutput(place)
}

final class EmbeddedOutput(place: EmbeddedPlace) extends Output {
  private val staging = new Staging(place.directory)
  private val known = new java.util.HashMap[String, OutputTopic]()

  override def topic(name: String): OutputTopic = {
    var t = known.get(name)
    if (t == null) {
      try {
        if (!TopicLog.exists(place.directory, name)) TopicLog.create(place.directory, name, place.newPartitions)
        val s = staging.log(name).settings
        t = OutputTopic(s.partitions, s.compacted, s.appendTime, s.maxBytes)
      } catch { case e: TopicLog.TopicException => throw new TopicRefused(e.getMessage, e) }
      known.put(name, t)
    }
    t
  }

  override def add(topic: String, partition: Int, ts: Long, key: Span, value: Span,
      headers: Array[(Array[Byte], Array[Byte])], row: UnsafeRow): Unit = {
    staging.records(topic, partition)
      .add(ts, key.base, key.offset, key.length, value.base, value.offset, value.length, headers)
    staging.places(topic, partition).add(row.getLong(Layout.Clock), row.getInt(Layout.Source),
      row.getLong(Layout.Seq), row.getLong(Layout.Due), row.getLong(Layout.Step))
  }

  override def original(topic: String, partition: Int, offset: Long): Option[Original] =
    TopicLog(place.directory, topic).record(partition, offset).map { case (b, i) =>
      Original(b.timestamp(i), b.copy(SegmentSchema.Key, i), b.copy(SegmentSchema.Value, i), b.headers(i))
    }

  override def commit(): Array[StagedSegment] = staging.write()
  override def abort(): Unit = ()
}

/**
 * Writes an ordinary streaming DataFrame with the columns key and value, and optionally topic, partition, timestamp and
 * headers.
 */
final class FrameWrite(options: CaseInsensitiveStringMap, schema: StructType, query: String) extends StreamingWrite {
  private val directory = options.get("dir")
  private val topic = options.get("topic")
  private val application = options.getOrDefault("application", query)

  override def createStreamingWriterFactory(info: PhysicalWriteInfo): StreamingDataWriterFactory = {
    val (d, t, s) = (directory, topic, schema)
    new StreamingDataWriterFactory {
      override def createWriter(partition: Int, task: Long, epoch: Long): DataWriter[InternalRow] =
        new FrameWriter(d, t, s, partition)
    }
  }
  override def commit(epoch: Long, messages: Array[WriterCommitMessage]): Unit =
    Staging.commit(directory, messages.toSeq.collect { case s: Staged => s }.flatMap(_.segments),
      BatchWriter(application, query, epoch))
  override def abort(epoch: Long, messages: Array[WriterCommitMessage]): Unit =
    Staging.discard(directory, messages.toSeq.collect { case s: Staged => s }.flatMap(_.segments))
}

final class FrameWriter(directory: String, topic: String, schema: StructType, spark: Int)
    extends DataWriter[InternalRow] {
  private val staging = new Staging(directory)
  private def column(name: String, kinds: DataType*): Int = {
    val i = schema.fieldNames.indexOf(name)
    if (i >= 0 && !kinds.contains(schema(i).dataType)) {
      throw new IllegalArgumentException(
        s"the column '$name' is ${schema(i).dataType.simpleString}; " +
        s"cast it to ${kinds.map(_.simpleString).mkString(" or ")}")
    }
    i
  }
  private val key = column("key", BinaryType, StringType)
  private val value = column("value", BinaryType, StringType)
  private val time = column("timestamp", TimestampType, LongType)
  private val named = column("topic", StringType)
  private val partition = column("partition", IntegerType)
  private val headers = schema.fieldNames.indexOf("headers")
  private val micros = time >= 0 && schema(time).dataType == TimestampType
  private val now = System.currentTimeMillis

  private def bytes(r: InternalRow, i: Int): Array[Byte] =
    if (i < 0 || r.isNullAt(i)) null
    else if (schema(i).dataType == StringType) r.getUTF8String(i).getBytes
    else r.getBinary(i)

  override def write(r: InternalRow): Unit = {
    val to = if (named >= 0 && !r.isNullAt(named)) r.getUTF8String(named).toString else topic
    if (to == null) throw new IllegalArgumentException("no topic given: set the option 'topic' or add a column 'topic'")
    val s = staging.log(to).settings
    val k = bytes(r, key)
    val p =
      if (partition >= 0 && !r.isNullAt(partition)) r.getInt(partition)
      else if (k == null) spark % s.partitions
      else Murmur2.partition(k, Rows.Base, k.length, s.partitions)
    val ts =
      if (s.appendTime || time < 0 || r.isNullAt(time)) now
      else if (micros) Math.floorDiv(r.getLong(time), 1000L)
      else r.getLong(time)
    val more =
      if (headers < 0 || r.isNullAt(headers)) null
      else {
        val a = r.getArray(headers)
        Array.tabulate(a.numElements) { i =>
          val h = a.getStruct(i, 2)
          (h.getUTF8String(0).getBytes, if (h.isNullAt(1)) null else h.getBinary(1))
        }
      }
    staging.records(to, p).add(ts, k, bytes(r, value), more)
  }
  override def commit(): WriterCommitMessage = Staged(staging.write(), Array.empty, Array.empty)
  override def abort(): Unit = ()
  override def close(): Unit = ()
}
