package brookmere.kernel.ops.tables

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** A table with mapped values. `seesNull`: the function is called for deletions as well. */
final class TableMapValues(
    id: Int, name: String, mapper: Bound, store: String, sendOld: Boolean, seesNull: Boolean, of: View)
    extends KeyValueTable(id, name, store, sendOld) {
  @transient private var map: Projection = _
  @transient private var mapOld: Projection = _
  override def open(): Unit = {
    super.open()
    map = mapper.compile()
    if (sendOld && store == null) mapOld = mapper.compile()
  }
  override protected def computed: View = new MapView(mapper, seesNull, of)

  private def mapped(p: Projection, key: UnsafeRow, value: UnsafeRow, ts: Long): UnsafeRow =
    if (value == null && !seesNull) null else p(record.set(key, value, ts))

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val now = mapped(map, key, value, ts)
    if (store == null) forward(key, now, if (sendOld) mapped(mapOld, key, old, ts) else null, ts)
    else {
      val e = rows.entry(key)
      change(e, key, now, if (sendOld) rows.value(e) else null, ts)
    }
  }
}

/** The mapped rows of a view. */
final class MapView(mapper: Bound, seesNull: Boolean, of: View) extends View {
  override def sources: Seq[View] = Seq(of)
  override def over(sources: Seq[View]): View = new MapView(mapper, seesNull, sources.head)
  override def look(): Lookup = lookOver(of.look())
  private def lookOver(from: Lookup): Lookup = new ComputedLookup(from) {
    private val map = mapper.compile()
    private val record = new RecordRow
    override protected def computed(key: UnsafeRow, value: UnsafeRow): UnsafeRow = {
      ts = if (value == null) View.Unknown else from.ts
      if (value == null && !seesNull) null else map(record.set(key, value, ts))
    }
  }
}
