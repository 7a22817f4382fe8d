package brookmere.kernel.ops.aggregates

import brookmere.kernel.core.RecordRow
import brookmere.kernel.expr.Bound

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The value an aggregate starts with. */
object Initial {
  /** The initial value, which depends on no record. */
  def apply(b: Bound): UnsafeRow =
    if (b == null) null
    else {
      val r = b.compile()(new RecordRow)
      if (r == null) null else r.copy()
    }
}
