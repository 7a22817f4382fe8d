package brookmere.kernel.ops.tables

import brookmere.kernel.core._
import brookmere.kernel.expr.RowType
import brookmere.kernel.rows.{KeyOrder, Rows}
import brookmere.kernel.state.{Clock, GroupStore}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * A table whose rows live for `ttl` milliseconds: when stream time reaches the time of a row's last update plus `ttl`,
 * the row is deleted, with that time as its own. The store `ages` finds rows by age.
 */
final class ExpiringTable(id: Int, name: String, store: String, ages: String, key: RowType, ttl: Long, sendOld: Boolean)
    extends KeyValueTable(id, name, store, sendOld) {
  @transient private var byAge: GroupStore = _
  @transient private var clock: Clock = _
  @transient private var order: KeyOrder = _

  override def open(): Unit = {
    super.open()
    order = new KeyOrder(key)
  }

  override def attach(task: Task): Unit = {
    super.attach(task)
    byAge = task.groups(ages)
    clock = task.clock(Clock.ofNode(name), Clock.NoTime)
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (key == null) drop(Dropped.NullKey, key, value, ts)
    else {
      if (ts > clock.time) { clock.time = ts; expire() }
      if (ts <= clock.time - ttl) drop(Dropped.Expired, key, value, ts, clock.time)
      else {
        val e = rows.entry(key)
        age(key, if (e.value == null) Long.MinValue else e.ts, if (value == null) Long.MinValue else ts)
        change(e, key, value, rows.value(e), ts)
      }
    }

  /** Records that a row has the time `now` and no longer the time `before`; Long.MinValue stands for no row. */
  private def age(key: UnsafeRow, before: Long, now: Long): Unit = if (before != now) {
    val g = byAge.group(key)
    val item = if (before == Long.MinValue) null else byAge.item(g, before, 0L)
    if (item != null) byAge.put(item, null, before)
    if (now != Long.MinValue) {
      val there = byAge.item(g, now, 0L)
      byAge.put(if (there == null) byAge.add(g, now, 0L) else there, Rows.mark, now)
    }
  }

  /** Deletes the expired rows, the oldest first. */
  private def expire(): Unit = {
    val until = clock.time - ttl
    if (byAge.firstTime <= until) {
      val headers = task.keepHeaders()
      task.noHeaders()
      byAge.takeUntil(until, order) { i =>
        byAge.put(i, null, i.time)
        val gone = Rows.of(i.group.key, key.fields)
        val e = rows.entry(gone)
        change(e, gone, null, rows.value(e), i.time + ttl)
      }
      task.headers(headers)
    }
  }
}
