package brookmere.kernel.ops.stateless

import brookmere.kernel.core._
import brookmere.kernel.expr.Projection

/** A predicate's answer; null is no. */
object Predicate {
  def holds(test: Projection, record: RecordRow): Boolean = {
    val r = test(record)
    r != null && r.getBoolean(0)
  }
}
