package brookmere.kernel.rows

import brookmere.kernel.expr.RowType

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

/** Keys with their window: struct<key, start, end>, built and taken apart without expressions. */
final class WindowKeys(key: RowType) extends Serializable {
  import WindowKeys._
  private val fixed = !key.isStruct && UnsafeRow.isFixedLength(key.dataType)
  @transient private lazy val row = new UnsafeRow(3)
  @transient private lazy val innerRow = new UnsafeRow(key.fields)
  @transient private var buffer: Array[Byte] = _
  @transient private var innerBuffer: Array[Byte] = _

  /** The key with its window; valid until the next call. */
  def apply(k: UnsafeRow, start: Long, end: Long): UnsafeRow = {
    val from = if (key.isStruct) 0 else (k.getLong(0) >>> 32).toInt
    val n = if (fixed) 0 else if (key.isStruct) k.getSizeInBytes else k.getLong(0).toInt
    val size = Head + Rows.padded(n)
    if (buffer == null || buffer.length < size) buffer = new Array[Byte](size * 2)
    val b = buffer
    if (!fixed && (n & 7) != 0) Platform.putLong(b, Rows.Base + size - 8, 0L)
    if (fixed && k.isNullAt(0)) { Platform.putLong(b, Rows.Base, 1L); Platform.putLong(b, Rows.Base + 8, 0L) }
    else {
      Platform.putLong(b, Rows.Base, 0L)
      Platform.putLong(b, Rows.Base + 8, if (fixed) k.getLong(0) else (Head.toLong << 32) | n)
      if (!fixed) Platform.copyMemory(k.getBaseObject, k.getBaseOffset + from, b, Rows.Base + Head, n)
    }
    Platform.putLong(b, Rows.Base + 16, start)
    Platform.putLong(b, Rows.Base + 24, end)
    row.pointTo(b, Rows.Base, size)
    row
  }

  /** The key without its window; valid until the next call. */
  def inner(windowed: UnsafeRow): UnsafeRow = {
    val at = windowed.getLong(0)
    val from = (at >>> 32).toInt
    val n = at.toInt
    if (key.isStruct) innerRow.pointTo(windowed.getBaseObject, windowed.getBaseOffset + from, n)
    else {
      val size = if (fixed) 16 else 16 + Rows.padded(n)
      if (innerBuffer == null || innerBuffer.length < size) innerBuffer = new Array[Byte](size * 2)
      val b = innerBuffer
      Platform.putLong(b, Rows.Base, if (windowed.isNullAt(0)) 1L else 0L)
      if (fixed) Platform.putLong(b, Rows.Base + 8, at)
      else {
        if ((n & 7) != 0) Platform.putLong(b, Rows.Base + size - 8, 0L)
        Platform.putLong(b, Rows.Base + 8, (16L << 32) | n)
        Platform.copyMemory(windowed.getBaseObject, windowed.getBaseOffset + from, b, Rows.Base + 16, n)
      }
      innerRow.pointTo(b, Rows.Base, size)
    }
    innerRow
  }

  def start(windowed: UnsafeRow): Long = windowed.getLong(1)
  def end(windowed: UnsafeRow): Long = windowed.getLong(2)
}

object WindowKeys {
  private val Head = 32
  def typeOf(key: RowType): RowType =
    RowType(new StructType().add("key", key.dataType).add("start", LongType).add("end", LongType))
  def isWindowed(t: DataType): Boolean = t match {
    case StructType(Array(k, s, e)) =>
      k.name == "key" && s.name == "start" && e.name == "end" && s.dataType == LongType && e.dataType == LongType
    case _ => false
  }
}
