package brookmere.kernel.ops.aggregates

import brookmere.kernel.expr.{Bound, Projection}
import brookmere.kernel.ops.tables.KeyValueTable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Folds the values of a key into one. Without an initial value the first value is the aggregate. `merges`: the values
 * are partial aggregates, and their records were counted where they were folded.
 */
final class Aggregate(id: Int, name: String, store: String, initial: Bound, step: Bound, result: Bound,
    sendOld: Boolean, merges: Boolean, override val python: PythonFold = null)
    extends KeyValueTable(id, name, store, sendOld, result) {
  @transient private var apply: Projection = _
  @transient private var start: UnsafeRow = _
  override def open(): Unit = {
    super.open()
    if (step != null) apply = step.compile()
    start = Initial(initial)
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (key == null || value == null) { if (!isDry) drop() }
    else {
      if (merges) received -= 1
      val e = rows.entry(key)
      val before = if (e.value == null) start else rows.value(e)
      val time = if (e.value == null) ts else math.max(ts, e.ts)
      val after =
        if (folds != null) folds(python.step, before, null)
        else if (before == null && initial == null) value
        else {
          record.set(key, value, ts).aggregate = before
          apply(record)
        }
      change(e, key, after, valueBefore(before), time)
    }
}
