package brookmere.kernel.ops.joins

import brookmere.kernel.core._
import brookmere.kernel.state.GroupStore

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Keeps the records of one side of a stream-stream join after they have been joined. */
final class JoinBuffer(id: Int, name: String, store: String) extends Processor(id, name) {
  @transient private var rows: GroupStore = _
  override def attach(task: Task): Unit = { super.attach(task); rows = task.groups(store) }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    forward(key, value, null, ts)
    if (key != null && value != null) {
      rows.clock.advance(ts)
      if (ts >= rows.oldest) {
        val g = rows.group(key)
        val last = g.from(ts + 1) - 1
        val number = if (last >= 0 && g(last).time == ts) g(last).number + 1 else 0L
        rows.put(rows.add(g, ts, number), value, ts)
      }
    }
  }
}
