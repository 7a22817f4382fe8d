package brookmere.kernel.rows

import java.util.Arrays

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

/** Which nodes write where: topics of sinks, sinks whose topic travels with the record, taps. */
final class Destinations(topics: Map[Int, String], val routed: Set[Int], val taps: Set[Int]) extends Serializable {
  private val size = (topics.keys ++ routed ++ taps).maxOption.getOrElse(-1) + 1
  val names: Array[Array[Byte]] = Array.tabulate(size)(n => topics.get(n).map(_.getBytes("UTF-8")).orNull)
  val isRouted: Array[Boolean] = Array.tabulate(size)(routed)
  val isTap: Array[Boolean] = Array.tabulate(size)(taps)
}

/** Turns rows of the layout into rows for a sink. Fields are moved as bytes; the row is reused. */
final class OutputRows(in: Iterator[InternalRow], to: Destinations, slots: Array[Int]) extends Iterator[InternalRow] {
  private val fields = OutputLayout.schema.length
  private val fixed = 8 + 8 * fields
  private var buffer = new Array[Byte](512)
  private val row = new UnsafeRow(fields)
  private val pair = new UnsafeRow(2)
  private var end = 0
  private var nulls = 0L

  override def hasNext: Boolean = in.hasNext

  override def next(): InternalRow = {
    val r = in.next().asInstanceOf[UnsafeRow]
    val node = r.getInt(Layout.Node)
    end = fixed
    nulls = 0L
    if (node == Layout.ErrorNode) {
      text(0, OutputRows.Error)
      nulls |= (1L << 1) | (1L << 3)
      binary(2, r, Layout.Key)
      binary(6, r, Layout.Value)
    } else {
      text(0, if (to.isTap(node)) OutputRows.Tap else OutputRows.Record)
      binary(2, r, Layout.Key)
      if (to.isRouted(node)) {
        val route = Rows.slice(r, Layout.Value, pair)
        binary(1, route, 0)
        binary(3, route, 1)
      } else {
        text(1, to.names(node))
        binary(3, r, Layout.Value)
      }
      nulls |= 1L << 6
    }
    headers(r)
    put(4, r.getLong(Layout.Ts))
    put(7, node & 0xffffffffL)
    put(8, taskOf(r.getInt(Layout.Task)))
    put(9, r.getLong(Layout.Clock))
    put(10, r.getInt(Layout.Source))
    put(11, r.getLong(Layout.Seq))
    put(12, r.getLong(Layout.Due))
    put(13, r.getLong(Layout.Step))
    Platform.putLong(buffer, Rows.Base, nulls)
    row.pointTo(buffer, end)
    row
  }

  private def taskOf(slot: Int): Int = {
    var i = 0
    while (slots(i) != slot) i += 1
    i
  }

  private def put(i: Int, v: Long): Unit = Platform.putLong(buffer, Rows.Base + 8 + 8L * i, v)

  private def text(i: Int, bytes: Array[Byte]): Unit =
    if (bytes == null) nulls |= 1L << i else move(i, bytes, Rows.Base, bytes.length)

  private def binary(i: Int, from: UnsafeRow, field: Int): Unit =
    if (from.isNullAt(field)) nulls |= 1L << i
    else {
      val at = from.getLong(field)
      move(i, from.getBaseObject, from.getBaseOffset + (at >>> 32).toInt, at.toInt)
    }

  /** The packed headers are a row of one array; the array itself is the field. */
  private def headers(from: UnsafeRow): Unit =
    if (from.isNullAt(Layout.Headers)) nulls |= 1L << 5
    else {
      val at = from.getLong(Layout.Headers)
      val packed = from.getBaseOffset + (at >>> 32).toInt
      val array = Platform.getLong(from.getBaseObject, packed + 8)
      move(5, from.getBaseObject, packed + (array >>> 32).toInt, array.toInt)
    }

  private def move(i: Int, base: AnyRef, offset: Long, length: Int): Unit = {
    val full = Rows.padded(length)
    if (end + full > buffer.length) buffer = Arrays.copyOf(buffer, math.max(end + full, buffer.length * 2))
    put(i, (end.toLong << 32) | length)
    if (full != length) Platform.putLong(buffer, Rows.Base + end + full - 8, 0L)
    Platform.copyMemory(base, offset, buffer, Rows.Base + end, length)
    end += full
  }
}

object OutputRows {
  private val Record = "record".getBytes
  private val Error = "error".getBytes
  private val Tap = "tap".getBytes
}
