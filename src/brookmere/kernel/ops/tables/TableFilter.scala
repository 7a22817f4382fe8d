package brookmere.kernel.ops.tables

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection}
import brookmere.kernel.ops.stateless.Predicate

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The rows of a table that match a predicate; a row that no longer matches is deleted. `versioned`: the updates come
 * from a versioned table, and repeated deletions are sent as well.
 */
final class TableFilter(
    id: Int, name: String, predicate: Bound, negate: Boolean, store: String, sendOld: Boolean, versioned: Boolean,
    of: View)
    extends KeyValueTable(id, name, store, sendOld) {
  @transient private var test: Projection = _
  override def open(): Unit = { super.open(); test = predicate.compile() }
  override protected def computed: View = new FilterView(predicate, negate, of)

  private def kept(key: UnsafeRow, value: UnsafeRow, ts: Long): UnsafeRow =
    if (value != null && Predicate.holds(test, record.set(key, value, ts)) != negate) value else null

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val now = kept(key, value, ts)
    if (store == null) {
      val before = if (sendOld) kept(key, old, ts) else null
      if (versioned || !(sendOld && before == null && now == null)) forward(key, now, before, ts)
    } else {
      val e = rows.entry(key)
      val before = if (sendOld) rows.value(e) else null
      if (versioned || !(sendOld && before == null && now == null)) change(e, key, now, before, ts)
    }
  }
}

/** The rows of a view that match a predicate. */
final class FilterView(predicate: Bound, negate: Boolean, of: View) extends View {
  override def sources: Seq[View] = Seq(of)
  override def over(sources: Seq[View]): View = new FilterView(predicate, negate, sources.head)
  override def look(): Lookup = lookOver(of.look())
  private def lookOver(from: Lookup): Lookup = new ComputedLookup(from) {
    private val test = predicate.compile()
    private val record = new RecordRow
    override protected def computed(key: UnsafeRow, value: UnsafeRow): UnsafeRow = {
      ts = from.ts
      if (value != null && Predicate.holds(test, record.set(key, value, ts)) != negate) value else null
    }
  }
}
