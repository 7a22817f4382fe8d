package brookmere.kernel.ops.windows

import brookmere.kernel.core._
import brookmere.kernel.state.GroupStore

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Keeps the rows of a windowed table of an earlier stage for as long as that table does. `timeField` is the part of the
 * key that determines a row's age: the start of a window, the end of a session.
 */
final class WindowCopy(id: Int, name: String, store: String, timeField: Int) extends Processor(id, name) with View {
  @transient private var rows: GroupStore = _
  override def attach(task: Task): Unit = { super.attach(task); rows = task.groups(store) }
  override def keptIn: String = store

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val time = key.getLong(timeField)
    val group = rows.group(key)
    val found = rows.item(group, time, 0L)
    if (found != null) rows.put(found, value, ts)
    else if (value != null) rows.put(rows.add(group, time, 0L), value, ts)
  }

  override def look(): Lookup = new Lookup {
    override def get(key: UnsafeRow): UnsafeRow = {
      val group = rows.find(key)
      val time = key.getLong(timeField)
      val item = if (group == null || time < rows.oldest) null else rows.item(group, time, 0L)
      if (item == null || item.value == null) null
      else {
        ts = item.ts
        row(item.value, rows.valueFields)
      }
    }
  }
}

object WindowCopy {
  /** Positions in a windowed key. */
  val Start = 1
  val End = 2
}
