package brookmere.kernel.python.stage

import java.util.Arrays

import brookmere.kernel.rows.{Layout, Rows}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Rows of a task that wait for the worker, together with those that only pass through. */
private[python] final class Chunk {
  private var bytes = new Array[Byte](1 << 16)
  private var end = 0
  private var starts = new Array[Int](1 << 10)
  private var asked = new Array[Boolean](1 << 10)
  private var size = 0
  private var forWorker = 0
  private val last = new UnsafeRow(Layout.Fields)

  def count: Int = size
  def isEmpty: Boolean = size == 0
  /** How many of the rows go to the worker. */
  def askedCount: Int = forWorker
  def isFull: Boolean = size >= Chunk.MaxRows || end >= Chunk.MaxBytes

  def clear(): Unit = { end = 0; size = 0; forWorker = 0 }

  /** Keeps a copy of a row. */
  def add(row: UnsafeRow, isAsked: Boolean): Unit = {
    val n = row.getSizeInBytes
    if (end + n > bytes.length) bytes = Arrays.copyOf(bytes, math.max(end + n, bytes.length * 2))
    if (size == starts.length) { starts = Arrays.copyOf(starts, size * 2); asked = Arrays.copyOf(asked, size * 2) }
    Platform.copyMemory(row.getBaseObject, row.getBaseOffset, bytes, Rows.Base + end, n)
    starts(size) = end
    asked(size) = isAsked
    if (isAsked) forWorker += 1
    size += 1
    end += n
  }

  def isAsked(i: Int): Boolean = asked(i)

  /** The row at a position, viewed through `as`. */
  def row(i: Int, as: UnsafeRow): UnsafeRow = {
    val from = starts(i)
    as.pointTo(bytes, Rows.Base + from, (if (i + 1 < size) starts(i + 1) else end) - from)
    as
  }

  /** True if a row has the same root record as the last one here. */
  def isSameRoot(next: UnsafeRow): Boolean = {
    row(size - 1, last)
    last.getLong(Layout.Clock) == next.getLong(Layout.Clock) &&
      last.getInt(Layout.Source) == next.getInt(Layout.Source) &&
      last.getLong(Layout.Seq) == next.getLong(Layout.Seq)
  }
}

private[python] object Chunk {
  private val MaxRows = 4096
  private val MaxBytes = 1 << 20
}
