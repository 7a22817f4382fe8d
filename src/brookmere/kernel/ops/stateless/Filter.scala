package brookmere.kernel.ops.stateless

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Keeps the records for which the predicate is true (or, negated, is not true). */
final class Filter(id: Int, name: String, predicate: Bound, negate: Boolean) extends Evaluating(id, name) {
  @transient private var test: Projection = _
  override def open(): Unit = { super.open(); test = predicate.compile() }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (Predicate.holds(test, record.set(key, value, ts)) != negate) forward(key, value, null, ts)
}
