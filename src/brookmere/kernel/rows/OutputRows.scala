package brookmere.kernel.rows

import brookmere.kernel.core.ErrorRow

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

/** What a sink receives: one row per record, failure or tapped record. */
object OutputLayout {
  val schema: StructType = new StructType()
    .add("kind", StringType)
    .add("topic", StringType)
    .add("key", BinaryType)
    .add("value", BinaryType)
    .add("timestamp", LongType)
    .add("headers", Layout.headerType)
    .add("failure", ErrorRow.schema)
    .add("node", IntegerType)
    .add("task", IntegerType)
    .add("clock", LongType)
    .add("source", IntegerType)
    .add("seq", LongType)
    .add("due", LongType)
    .add("step", LongType)
}

/**
 * Which nodes write where: topics of sinks, sinks whose topic comes with the record, taps. `windows`: how many bytes at
 * the end of a sink's keys are a window, which does not affect the partition. `changelogs`: sinks that write to the
 * partition of their task, whatever the key.
 */
final class Destinations(
    topics: Map[Int, String], val routed: Set[Int], val taps: Set[Int], windows: Map[Int, Int] = Map.empty,
    changelogs: Set[Int] = Set.empty)
    extends Serializable {
  private val size = (topics.keys ++ routed ++ taps).maxOption.getOrElse(-1) + 1
  val names: Array[Array[Byte]] = Array.tabulate(size)(n => topics.get(n).map(_.getBytes("UTF-8")).orNull)
  val isRouted: Array[Boolean] = Array.tabulate(size)(routed)
  val isTap: Array[Boolean] = Array.tabulate(size)(taps)
  val windowBytes: Array[Int] = Array.tabulate(size)(windows.getOrElse(_, 0))
  val byTask: Array[Boolean] = Array.tabulate(size)(changelogs)
}

/** Converts rows of the layout to rows for a sink. Fields are moved as bytes; the row is reused. */
final class OutputRows(in: Iterator[InternalRow], to: Destinations, slots: Array[Int]) extends Iterator[InternalRow] {
  private val out = new RowWriter(OutputLayout.schema.length)
  private val pair = new UnsafeRow(2)

  override def hasNext: Boolean = in.hasNext

  override def next(): InternalRow = {
    val r = in.next().asInstanceOf[UnsafeRow]
    val node = r.getInt(Layout.Node)
    out.begin()
    out.copy(2, r, Layout.Key)
    if (node == Layout.ErrorNode) {
      out.bytes(0, OutputRows.Error)
      out.setNull(1)
      out.setNull(3)
      out.copy(6, r, Layout.Value)
    } else {
      out.bytes(0, if (to.isTap(node)) OutputRows.Tap else OutputRows.Record)
      if (to.isRouted(node)) {
        val route = Rows.slice(r, Layout.Value, pair)
        out.copy(1, route, 0)
        out.copy(3, route, 1)
      } else {
        out.bytes(1, to.names(node))
        out.copy(3, r, Layout.Value)
      }
      out.setNull(6)
    }
    headers(r)
    out.put(4, r.getLong(Layout.Ts))
    out.put(7, node & 0xffffffffL)
    out.put(8, Slots.taskOf(slots, r.getInt(Layout.Task)))
    out.put(9, r.getLong(Layout.Clock))
    out.put(10, r.getInt(Layout.Source))
    out.put(11, r.getLong(Layout.Seq))
    out.put(12, r.getLong(Layout.Due))
    out.put(13, r.getLong(Layout.Step))
    out.result()
  }

  /** The packed headers are a row with one array; the array itself is the field. */
  private def headers(from: UnsafeRow): Unit =
    if (from.isNullAt(Layout.Headers)) out.setNull(5)
    else {
      val at = from.getLong(Layout.Headers)
      val packed = from.getBaseOffset + (at >>> 32).toInt
      val array = Platform.getLong(from.getBaseObject, packed + 8)
      out.bytes(5, from.getBaseObject, packed + (array >>> 32).toInt, array.toInt)
    }
}

object OutputRows {
  private val Record = "record".getBytes
  private val Error = "error".getBytes
  private val Tap = "tap".getBytes
}
