package brookmere.kernel.ops

import brookmere.kernel.expr.{Bound, Projection}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** A table with mapped values. `seesNull`: the function is called for deletes, too. */
final class TableMapValues(id: Int, name: String, mapper: Bound, store: String, sendOld: Boolean, seesNull: Boolean)
    extends Storing(id, name, store, sendOld) {
  @transient private var map: Projection = _
  @transient private var mapOld: Projection = _
  override def open(): Unit = {
    super.open()
    map = mapper.compile()
    if (sendOld && store == null) mapOld = mapper.compile()
  }

  private def mapped(p: Projection, key: UnsafeRow, value: UnsafeRow, ts: Long): UnsafeRow =
    if (value == null && !seesNull) null else p(record.set(key, value, ts))

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val now = mapped(map, key, value, ts)
    if (store == null) forward(key, now, if (sendOld) mapped(mapOld, key, old, ts) else null, ts)
    else {
      val e = rows.entry(key)
      update(e, key, now, if (sendOld) rows.value(e) else null, ts)
    }
  }
}
