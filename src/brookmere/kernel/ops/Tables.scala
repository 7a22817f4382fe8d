package brookmere.kernel.ops

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Reads a stream as a table: the last value per key in order of arrival, null deletes. */
final class TableSource(id: Int, name: String, store: String, sendOld: Boolean) extends Storing(id, name, store, sendOld) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (key == null) drop()
    else if (store == null) forward(key, value, null, ts)
    else {
      val e = rows.entry(key)
      update(e, key, value, rows.value(e), ts)
    }
}

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

/**
 * Names the group of a table's row. An update that stays in its group travels as one change;
 * otherwise the old group is told first, then the new one.
 */
final class TableGroup(id: Int, name: String, newKey: Bound, newValue: Bound) extends Evaluating(id, name) {
  @transient private var keys: Array[Projection] = _
  @transient private var values: Array[Projection] = _
  override def open(): Unit = {
    super.open()
    keys = Array(newKey.compile(), newKey.compile())
    values = Array(newValue.compile(), newValue.compile())
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    if (key == null) throw new BadBytes("a table row without key cannot be grouped")
    val nowKey = if (value == null) null else keys(0)(record.set(key, value, ts))
    val now = if (nowKey == null) null else values(0)(record)
    val oldKey = if (old == null) null else keys(1)(record.set(key, old, ts))
    val before = if (oldKey == null) null else values(1)(record)
    if (now != null && before != null && nowKey == oldKey) forward(nowKey, now, before, ts)
    else {
      if (before != null) forward(oldKey, null, before, ts)
      if (now != null) forward(nowKey, now, null, ts)
    }
  }
}

/** Takes the old value of an update out of the group's aggregate, then puts the new one in. */
final class TableAggregate(
    id: Int, name: String, store: String, initial: Bound, adder: Bound, subtractor: Bound, result: Bound, sendOld: Boolean)
    extends Storing(id, name, store, sendOld, result) {
  @transient private var add: Projection = _
  @transient private var subtract: Projection = _
  @transient private var start: UnsafeRow = _
  override def open(): Unit = {
    super.open()
    add = adder.compile()
    subtract = subtractor.compile()
    start = Initial(initial)
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    if (key == null) throw new BadBytes("a grouped table row without key cannot be aggregated")
    val e = rows.entry(key)
    val before = rows.value(e)
    var time = ts
    var now = before
    if (old != null && before != null) {
      record.set(key, old, ts).aggregate = before
      now = subtract(record)
      time = math.max(ts, e.ts)
    }
    if (value != null) {
      val base = if (now == null) start else now
      if (base == null && initial == null) now = value
      else {
        record.set(key, value, ts).aggregate = base
        now = add(record)
      }
      // Without an aggregate to add to, reduce keeps the time of the record itself.
      if (before != null && (initial != null || base != null)) time = math.max(ts, e.ts)
    }
    update(e, key, now, before, time)
  }
}
