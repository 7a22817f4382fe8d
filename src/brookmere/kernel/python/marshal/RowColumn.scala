package brookmere.kernel.python.marshal

import java.util.Arrays

import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Rows that were read one after the other into the same buffer: where each begins and ends. */
final class RowColumn(rows: PackedRows) {
  private var starts = new Array[Int](1 << 10)
  private var ends = new Array[Int](1 << 10)
  private var size = 0

  def clear(): Unit = size = 0
  def count: Int = size

  /** Reads the next row, or None. */
  def read(in: MarshalIn, reader: UnmarshalRow): Unit = add(reader.read(in, rows))

  /** Adds the row that begins at `start` and ends where the rows end. */
  def add(start: Int): Unit = {
    if (size == starts.length) { starts = Arrays.copyOf(starts, size * 2); ends = Arrays.copyOf(ends, size * 2) }
    starts(size) = start
    ends(size) = rows.end
    size += 1
  }

  /** The row at a position, viewed through `as`; null if there is none. */
  def row(i: Int, as: UnsafeRow): UnsafeRow =
    if (starts(i) < 0) null
    else {
      as.pointTo(rows.bytes, Rows.Base + starts(i), ends(i) - starts(i))
      as
    }
}
