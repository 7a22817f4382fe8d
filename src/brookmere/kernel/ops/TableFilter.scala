package brookmere.kernel.ops

import brookmere.kernel.expr.{Bound, Projection}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The rows of a table that pass a test; a row that no longer passes is deleted. */
final class TableFilter(id: Int, name: String, predicate: Bound, negate: Boolean, store: String, sendOld: Boolean)
    extends Storing(id, name, store, sendOld) {
  @transient private var test: Projection = _
  override def open(): Unit = { super.open(); test = predicate.compile() }

  private def kept(key: UnsafeRow, value: UnsafeRow, ts: Long): UnsafeRow =
    if (value != null && Test(test, record.set(key, value, ts)) != negate) value else null

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val now = kept(key, value, ts)
    if (store == null) {
      val before = if (sendOld) kept(key, old, ts) else null
      if (!(sendOld && before == null && now == null)) forward(key, now, before, ts)
    } else {
      val e = rows.entry(key)
      val before = if (sendOld) rows.value(e) else null
      if (!(sendOld && before == null && now == null)) update(e, key, now, before, ts)
    }
  }
}
