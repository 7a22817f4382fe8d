package brookmere.kernel.ops.tables

import brookmere.kernel.expr.Bound

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeRow}

/** The result of an aggregate that keeps more than its result; without `result` the row itself. */
final class ResultProjection(result: Bound) {
  private val show = if (result == null) null else result.compile()
  private val whole = new GenericInternalRow(1)

  /** The result is valid until the next call. */
  def apply(row: UnsafeRow): UnsafeRow =
    if (row == null || show == null) row else { whole.update(0, row); show(whole) }
}
