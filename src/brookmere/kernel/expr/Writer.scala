package brookmere.kernel.expr

import brookmere.kernel.core.BadBytes
import brookmere.kernel.rows.{Rows, WindowKeys}

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

/** Serialises a row; the bytes are at `base`, `offset` and `size`. */
abstract class Writer extends Serializable {
  @transient var base: AnyRef = _
  @transient var offset = 0L
  @transient var size = 0
  def open(): Unit = {}
  def write(row: UnsafeRow): Unit

  /** The bytes in an array of their own; null for no row. */
  final def bytes(row: UnsafeRow): Array[Byte] =
    if (row == null) null
    else {
      write(row)
      val a = new Array[Byte](size)
      Platform.copyMemory(base, offset, a, Rows.Base, size)
      a
    }
}

object Writer {
  /** The writer of a built-in wire format for rows of a type, or null if they do not fit. */
  def of(kind: String, t: RowType): Writer = (kind, t.dataType) match {
    case ("text", s: StringType) => new BytesWriter
    case ("bytes", BinaryType) => new BytesWriter
    case ("int", IntegerType) => new FixedWriter(IntegerType, 4)
    case ("long", LongType) => new FixedWriter(LongType, 8)
    case ("double", DoubleType) => new FixedWriter(DoubleType, 8)
    case ("bool", BooleanType) => new FixedWriter(BooleanType, 1)
    case _ => null
  }
}

final class BytesWriter extends Writer {
  override def write(row: UnsafeRow): Unit = {
    val at = row.getLong(0)
    base = row.getBaseObject
    offset = row.getBaseOffset + (at >>> 32).toInt
    size = at.toInt
  }
}

final class FixedWriter(t: DataType, width: Int) extends Writer {
  @transient private var buffer: Array[Byte] = _
  override def open(): Unit = { buffer = new Array[Byte](8); base = buffer; offset = Rows.Base; size = width }
  override def write(row: UnsafeRow): Unit = t match {
    case IntegerType => Platform.putInt(buffer, Rows.Base, Integer.reverseBytes(row.getInt(0)))
    case LongType => Platform.putLong(buffer, Rows.Base, java.lang.Long.reverseBytes(row.getLong(0)))
    case DoubleType =>
      Platform.putLong(buffer, Rows.Base,
        java.lang.Long.reverseBytes(java.lang.Double.doubleToLongBits(row.getDouble(0))))
    case _ => Platform.putByte(buffer, Rows.Base, if (row.getBoolean(0)) 1 else 0)
  }
}

/**
 * A key with its window in Kafka's binary form: the key's bytes, then the start; for sessions the end and the start.
 */
final class WindowedWriter(inner: Writer, key: RowType, session: Boolean) extends Writer {
  private val tail = if (session) 16 else 8
  private val keys = new WindowKeys(key)
  @transient private var buffer: Array[Byte] = _
  override def open(): Unit = { inner.open(); buffer = new Array[Byte](64) }
  override def write(row: UnsafeRow): Unit = {
    inner.write(keys.inner(row))
    val n = inner.size
    size = n + tail
    if (buffer.length < size) buffer = new Array[Byte](size * 2)
    Platform.copyMemory(inner.base, inner.offset, buffer, Rows.Base, n)
    if (session) Platform.putLong(buffer, Rows.Base + n, java.lang.Long.reverseBytes(keys.end(row)))
    Platform.putLong(buffer, Rows.Base + size - 8, java.lang.Long.reverseBytes(keys.start(row)))
    base = buffer
    offset = Rows.Base
  }
}

/** A serde given as an expression from a value to bytes. */
final class ExpressionWriter(encode: Bound) extends Writer {
  @transient private var project: Projection = _
  @transient private var input: GenericInternalRow = _
  override def open(): Unit = { project = encode.compile(); input = new GenericInternalRow(1) }
  override def write(row: UnsafeRow): Unit = {
    input.update(0, row)
    val r = project(input)
    if (r == null) throw new BadBytes("the serde returned null for a value that is not null")
    val at = r.getLong(0)
    base = r.getBaseObject
    offset = r.getBaseOffset + (at >>> 32).toInt
    size = at.toInt
  }
}
