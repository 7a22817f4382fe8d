package brookmere.kernel.ops.joins

import brookmere.kernel.core.RecordRow
import brookmere.kernel.expr.Bound

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Makes one value of two. The result is valid until the next call. */
final class Joiner(function: Bound) {
  private val join = function.compile()
  // The left value stands where other functions find the value, the right one in the place of an aggregate.
  private val record = new RecordRow

  def apply(key: UnsafeRow, left: UnsafeRow, right: UnsafeRow, ts: Long): UnsafeRow = {
    record.set(key, left, ts).aggregate = right
    join(record)
  }
}
