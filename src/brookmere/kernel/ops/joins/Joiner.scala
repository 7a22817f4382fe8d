package brookmere.kernel.ops.joins

import brookmere.kernel.core.RecordRow
import brookmere.kernel.expr.Bound

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Combines two values. The result is valid until the next call. */
final class Joiner(function: Bound) {
  private val join = function.compile()
  // The left value is where other functions have the value, the right one where they have the aggregate.
  private val record = new RecordRow

  def apply(key: UnsafeRow, left: UnsafeRow, right: UnsafeRow, ts: Long): UnsafeRow = {
    record.set(key, left, ts).aggregate = right
    join(record)
  }
}
