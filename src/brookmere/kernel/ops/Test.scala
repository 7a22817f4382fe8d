package brookmere.kernel.ops

import brookmere.kernel.core._
import brookmere.kernel.expr.Projection

/** A predicate's answer; null is no. */
object Test {
  def apply(test: Projection, record: RecordRow): Boolean = {
    val r = test(record)
    r != null && r.getBoolean(0)
  }
}
