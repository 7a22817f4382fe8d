package brookmere.kernel.rows

import java.nio.ByteBuffer
import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Builds rows one at a time in a reused buffer. A row has at most 64 fields. */
final class RowWriter(fields: Int) {
  private val fixed = 8 + 8 * fields
  private var buffer = new Array[Byte](512)
  private val written = new UnsafeRow(fields)
  private var end = fixed
  private var nulls = 0L

  def begin(): Unit = { end = fixed; nulls = 0L }

  def result(): UnsafeRow = {
    Platform.putLong(buffer, Rows.Base, nulls)
    written.pointTo(buffer, end)
    written
  }

  def setNull(i: Int): Unit = {
    nulls |= 1L << i
    put(i, 0L)
  }

  def put(i: Int, v: Long): Unit = Platform.putLong(buffer, Rows.Base + 8 + 8L * i, v)

  def bytes(i: Int, all: Array[Byte]): Unit = if (all == null) setNull(i) else bytes(i, all, Rows.Base, all.length)

  def bytes(i: Int, base: AnyRef, offset: Long, length: Int): Unit = {
    val at = reserve(i, length)
    Platform.copyMemory(base, offset, buffer, Rows.Base + at, length)
  }

  def bytes(i: Int, from: ByteBuffer, position: Int, length: Int): Unit = {
    val at = reserve(i, length)
    from.get(position, buffer, at, length)
  }

  /** A packed row as a field; null for none. */
  def row(i: Int, r: UnsafeRow): Unit =
    if (r == null) setNull(i) else bytes(i, r.getBaseObject, r.getBaseOffset, r.getSizeInBytes)

  /** Copies a variable-length field of another row. */
  def copy(i: Int, from: UnsafeRow, field: Int): Unit =
    if (from.isNullAt(field)) setNull(i)
    else {
      val at = from.getLong(field)
      bytes(i, from.getBaseObject, from.getBaseOffset + (at >>> 32).toInt, at.toInt)
    }

  private def reserve(i: Int, length: Int): Int = {
    val full = Rows.padded(length)
    if (end + full > buffer.length) buffer = Arrays.copyOf(buffer, math.max(end + full, buffer.length * 2))
    put(i, (end.toLong << 32) | length)
    if (full != length) Platform.putLong(buffer, Rows.Base + end + full - 8, 0L)
    val at = end
    end += full
    at
  }
}
