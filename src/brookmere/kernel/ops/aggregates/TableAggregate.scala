package brookmere.kernel.ops.aggregates

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection}
import brookmere.kernel.ops.tables.KeyValueTable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Subtracts the old value of an update from the group's aggregate, then adds the new one. */
final class TableAggregate(
    id: Int, name: String, store: String, initial: Bound, adder: Bound, subtractor: Bound, result: Bound,
    sendOld: Boolean, override val python: PythonFold = null)
    extends KeyValueTable(id, name, store, sendOld, result) {
  @transient private var add: Projection = _
  @transient private var subtract: Projection = _
  @transient private var start: UnsafeRow = _
  override def open(): Unit = {
    super.open()
    if (adder != null) { add = adder.compile(); subtract = subtractor.compile() }
    start = Initial(initial)
  }

  private def isReduce = if (python == null) initial == null else !python.hasInitial

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    if (key == null) throw new BadBytes("a grouped table row without key cannot be aggregated")
    val e = rows.entry(key)
    val before = rows.value(e)
    var time = ts
    var now = before
    if (old != null && before != null) {
      now =
        if (folds != null) folds(python.other, before, null)
        else {
          record.set(key, old, ts).aggregate = before
          subtract(record)
        }
      time = math.max(ts, e.ts)
    }
    if (value != null) {
      val base = if (now == null) start else now
      if (folds != null) now = folds(python.step, base, null)
      else if (base == null && isReduce) now = value
      else {
        record.set(key, value, ts).aggregate = base
        now = add(record)
      }
      // Without an aggregate to add to, reduce keeps the time of the record itself.
      if (before != null && (!isReduce || base != null)) time = math.max(ts, e.ts)
    }
    change(e, key, now, before, time)
  }
}
