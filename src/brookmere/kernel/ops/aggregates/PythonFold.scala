package brookmere.kernel.ops.aggregates

import brookmere.kernel.expr.RowType

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The functions of an aggregate that Python runs, by the numbers under which the worker knows them. `other` merges two
 * aggregates or takes a value out of one. Without `hasInitial` the first value is the aggregate.
 */
final case class PythonFold(
    step: Int, other: Int, key: RowType, value: RowType, kept: RowType, hasInitial: Boolean, takesKey: Boolean)

/** Calls functions of Python. A dry run only collects the calls; the run after it takes their results. */
trait Folds {
  def isDry: Boolean

  /** The aggregate after a call, valid until the next one. `merged` is the second aggregate of a merger, else null. */
  def apply(function: Int, before: UnsafeRow, merged: UnsafeRow): UnsafeRow

  /** What the last call started from where there was no aggregate before it. */
  def initial: UnsafeRow
}
