package brookmere.kernel.topics

import brookmere.kernel.rows.{Layout, RawLayout, RowWriter, Rows}

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** A range of records of a partition; `number` is the topic's index in the list of topics. */
final case class TopicRange(topic: String, number: Int, partition: Int, start: Long, end: Long)

/** The wall clock of a batch, and who receives it: a kind of Ticks. */
final case class Tick(wall: Long, kind: Long)

/** The columns of Spark's own Kafka source, for queries that are not topologies. */
object KafkaLayout {
  val schema: StructType = new StructType()
    .add("key", BinaryType)
    .add("value", BinaryType)
    .add("topic", StringType, nullable = false)
    .add("partition", IntegerType, nullable = false)
    .add("offset", LongType, nullable = false)
    .add("timestamp", TimestampType, nullable = false)
    .add("headers", Layout.headerType)
}

/** Reads ranges of topics as rows, one reused row at a time. */
abstract class TopicRows(directory: String, ranges: Array[TopicRange], fields: Int) {
  protected val out = new RowWriter(fields)
  private val packHeaders = UnsafeProjection.create(Layout.headersSchema)
  private var range = -1
  private var slices: Iterator[Slice] = Iterator.empty
  private var slice: Slice = null
  private var i = 0

  protected def enter(range: TopicRange): Unit
  protected def fill(range: TopicRange, batch: SegmentBatch, i: Int, offset: Long): Unit

  /** Fills the row that comes before all records, if there is one. */
  protected def first(): Boolean = false
  private var begun = false

  def advance(): Boolean = {
    if (!begun) {
      begun = true
      if (first()) return true
    }
    while (slice == null || i >= slice.to) {
      if (slices.hasNext) {
        slice = slices.next()
        i = slice.from
      } else if (range + 1 < ranges.length) {
        range += 1
        val r = ranges(range)
        enter(r)
        slices = TopicLog(directory, r.topic).slices(r.partition, r.start, r.end)
        slice = null
      } else return false
    }
    out.begin()
    fill(ranges(range), slice.batch, i, slice.base + slice.batch.delta(i))
    i += 1
    true
  }

  def row: UnsafeRow = out.result()

  protected def field(to: Int, column: Int, batch: SegmentBatch, i: Int): Unit =
    if (batch.isNull(column, i)) out.setNull(to)
    else {
      val n = batch.length(column, i)
      if (n == 0) out.bytes(to, Array.emptyByteArray) else out.bytes(to, batch.source, batch.position(column, i), n)
    }

  protected def headers(to: Int, batch: SegmentBatch, i: Int): Unit = {
    val found = batch.headers(i)
    if (found == null) out.setNull(to)
    else {
      val list = found.map { case (k, v) =>
        new GenericInternalRow(Array[Any](if (k == null) null else UTF8String.fromBytes(k), v))
      }
      val packed = packHeaders(new GenericInternalRow(Array[Any](new GenericArrayData(list.asInstanceOf[Array[Any]]))))
      out.copy(to, packed, 0)
    }
  }
}

/** Rows for stage 0. */
final class RawRows(directory: String, ranges: Array[TopicRange], tick: Option[Tick])
    extends TopicRows(directory, ranges, RawLayout.schema.length) {
  override protected def first(): Boolean = RawRows.tick(out, tick)

  override protected def enter(range: TopicRange): Unit = ()
  override protected def fill(range: TopicRange, batch: SegmentBatch, i: Int, offset: Long): Unit = {
    out.put(RawLayout.Topic, range.number)
    out.put(RawLayout.Partition, range.partition)
    out.put(RawLayout.Offset, offset)
    out.put(RawLayout.Ts, batch.timestamp(i))
    field(RawLayout.Key, SegmentSchema.Key, batch, i)
    field(RawLayout.Value, SegmentSchema.Value, batch, i)
    headers(RawLayout.Headers, batch, i)
    out.setNull(RawLayout.Clock)
  }
}

object RawRows {
  /** Fills the row that carries the wall clock, if there is one. */
  def tick(out: RowWriter, tick: Option[Tick]): Boolean = tick.exists { t =>
    out.begin()
    out.put(RawLayout.Topic, RawLayout.TickTopic & 0xffffffffL)
    out.put(RawLayout.Partition, 0L)
    out.put(RawLayout.Offset, t.kind)
    out.put(RawLayout.Ts, t.wall)
    Seq(RawLayout.Key, RawLayout.Value, RawLayout.Headers, RawLayout.Clock).foreach(out.setNull)
    true
  }
}

/** Rows in the layout of Spark's Kafka source. */
final class KafkaRows(directory: String, ranges: Array[TopicRange])
    extends TopicRows(directory, ranges, KafkaLayout.schema.length) {
  private var topic: Array[Byte] = null
  override protected def enter(range: TopicRange): Unit = topic = range.topic.getBytes("UTF-8")
  override protected def fill(range: TopicRange, batch: SegmentBatch, i: Int, offset: Long): Unit = {
    field(0, SegmentSchema.Key, batch, i)
    field(1, SegmentSchema.Value, batch, i)
    out.bytes(2, topic, Rows.Base, topic.length)
    out.put(3, range.partition)
    out.put(4, offset)
    out.put(5, batch.timestamp(i) * 1000L)
    headers(6, batch, i)
  }
}
