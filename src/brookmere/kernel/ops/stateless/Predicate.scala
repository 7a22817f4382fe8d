package brookmere.kernel.ops.stateless

import brookmere.kernel.core._
import brookmere.kernel.expr.Projection

/** Evaluates a predicate; null counts as false. */
object Predicate {
  def holds(test: Projection, record: RecordRow): Boolean = {
    val r = test(record)
    r != null && r.getBoolean(0)
  }
}
