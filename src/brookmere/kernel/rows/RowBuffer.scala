package brookmere.kernel.rows

import java.util.Arrays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Rows of the layout, written consecutively into one reused buffer and read back in order. Allocates nothing per row.
 */
final class RowBuffer {
  private var buffer = new Array[Byte](1 << 14)
  private var end = 0
  private var starts = new Array[Int](64)
  private var count = 0
  private var next = 0
  private val row = new UnsafeRow(Layout.Fields)

  def isEmpty: Boolean = next >= count

  def clear(): Unit = { end = 0; count = 0; next = 0 }

  def pull(): UnsafeRow = {
    val from = starts(next)
    next += 1
    val to = if (next < count) starts(next) else end
    row.pointTo(buffer, Rows.Base + from, to - from)
    row
  }

  /** Starts a row; `extra` is the number of bytes that its variable-length fields will need. */
  def begin(task: Int, clock: Long, source: Int, seq: Long, due: Long, step: Long, node: Int, ts: Long,
      extra: Int): Unit = {
    val need = end + RowBuffer.Fixed + extra
    if (need > buffer.length) buffer = Arrays.copyOf(buffer, math.max(need, buffer.length * 2))
    if (count == starts.length) starts = Arrays.copyOf(starts, count * 2)
    starts(count) = end
    count += 1
    val at = Rows.Base + end
    Platform.putLong(buffer, at, 0L)
    Platform.putLong(buffer, at + 8, task & 0xffffffffL)
    Platform.putLong(buffer, at + 16, clock)
    Platform.putLong(buffer, at + 24, source & 0xffffffffL)
    Platform.putLong(buffer, at + 32, seq)
    Platform.putLong(buffer, at + 40, due)
    Platform.putLong(buffer, at + 48, step)
    Platform.putLong(buffer, at + 56, node & 0xffffffffL)
    Platform.putLong(buffer, at + 64, ts)
    end += RowBuffer.Fixed
  }

  /** Appends a variable-length field (key, value, headers) to the current row. */
  def field(i: Int, source: AnyRef, offset: Long, length: Int): Unit = {
    val at = starts(count - 1)
    Platform.putLong(buffer, Rows.Base + at + 8 + 8L * i, ((end - at).toLong << 32) | length)
    val full = Rows.padded(length)
    if (full != length) Platform.putLong(buffer, Rows.Base + end + full - 8, 0L)
    Platform.copyMemory(source, offset, buffer, Rows.Base + end, length)
    end += full
  }

  def nullField(i: Int): Unit = {
    val at = Rows.Base + starts(count - 1)
    Platform.putLong(buffer, at, Platform.getLong(buffer, at) | (1L << i))
    Platform.putLong(buffer, at + 8 + 8L * i, 0L)
  }
}

object RowBuffer {
  val Fixed: Int = 8 + 8 * Layout.Fields
}
