package brookmere.kernel.ops.foreignkey

import brookmere.kernel.core._
import brookmere.kernel.rows.{RowWriter, Rows}
import brookmere.kernel.state.GroupStore

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Keeps which left rows subscribe to which right row. */
final class SubscriptionReceive(id: Int, name: String, store: String, keyFields: Int) extends Processor(id, name) {
  import Subscription._

  @transient private var waiting: GroupStore = _
  @transient private var left: UnsafeRow = _
  @transient private var hash: ValueHash = _
  @transient private var row: RowWriter = _
  override def open(): Unit = {
    super.open()
    left = new UnsafeRow(keyFields)
    hash = new ValueHash
    row = new RowWriter(3)
  }
  override def attach(task: Task): Unit = { super.attach(task); waiting = task.groups(store) }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val instruction = value.getInt(Instruction)
    if (key == null && instruction != Answer) drop()
    else {
      if (key != null) keep(key, value, instruction, ts)
      forward(key, value, null, ts)
    }
  }

  private def keep(key: UnsafeRow, message: UnsafeRow, instruction: Int, ts: Long): Unit = {
    val group = waiting.group(key)
    val who = Rows.slice(message, Key, left)
    val found = waiting.item(group, who)
    if (instruction == Unsubscribe || instruction == UnsubscribeAndAnswer) {
      if (found != null) waiting.put(found, null, ts)
    } else {
      row.begin()
      hash.read(message, Hash).write(row, KeptHash)
      row.put(KeptFrom, message.getInt(From))
      waiting.put(if (found == null) waiting.add(group, 0L, 0L, who) else found, row.result(), ts)
    }
  }
}
