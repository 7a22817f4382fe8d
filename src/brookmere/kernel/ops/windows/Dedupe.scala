package brookmere.kernel.ops.windows

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection}
import brookmere.kernel.rows.Rows
import brookmere.kernel.state.{Clock, GroupStore}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Forwards a record unless an earlier one with the same key, or the same result of `by`, has a time less than `within`
 * milliseconds away. It remembers one time for each: that of the last record forwarded.
 *
 * A record that is `within` or more behind stream time is dropped, so what was forgotten cannot matter.
 */
final class Dedupe(id: Int, name: String, store: String, by: Bound, within: Long) extends Evaluating(id, name) {
  @transient private var same: Projection = _
  @transient private var seen: GroupStore = _
  @transient private var clock: Clock = _

  override def open(): Unit = {
    super.open()
    if (by != null) same = by.compile()
  }

  override def attach(task: Task): Unit = {
    super.attach(task)
    seen = task.groups(store)
    clock = task.clock(Clock.ofNode(name), Clock.NoTime)
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val what = if (by == null) key else same(record.set(key, value, ts))
    if (what == null) drop(Dropped.NullKey, key, value, ts)
    else {
      clock.advance(ts)
      if (ts <= clock.time - within) drop(Dropped.Late, key, value, ts, clock.time)
      else {
        val group = seen.group(what)
        val last = group.last
        if (last == null || math.abs(ts - last.time) >= within) {
          if (last != null) seen.put(last, null, ts)
          seen.put(seen.add(group, ts, 0L), Rows.mark, ts)
          forward(key, value, null, ts)
        }
      }
    }
  }
}
