package brookmere.kernel.ops.foreignkey

import brookmere.kernel.core._
import brookmere.kernel.state.GroupStore

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Sends an update of the right table to all left rows that have subscribed to its key, in the order of their keys.
 * `versioned`: updates older than the latest are ignored.
 */
final class ForeignUpdate(id: Int, name: String, store: String, keyFields: Int, isText: Boolean, versioned: Boolean)
    extends Processor(id, name) {
  import Subscription._

  @transient private var waiting: GroupStore = _
  @transient private var left: UnsafeRow = _
  @transient private var hash: ValueHash = _
  @transient private var answer: AnswerWriter = _
  override def open(): Unit = {
    super.open()
    left = new UnsafeRow(keyFields)
    hash = new ValueHash
    answer = new AnswerWriter(isText)
  }
  override def attach(task: Task): Unit = { super.attach(task); waiting = task.groups(store) }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (key == null || (versioned && !task.isLatest)) drop()
    else {
      val group = waiting.find(key)
      var i = 0
      while (group != null && i < group.size) {
        val item = group(i)
        val kept = waiting.value(item)
        if (kept != null) {
          left.pointTo(item.sub, item.sub.length)
          forward(left, answer(value, hash.read(kept, KeptHash), kept.getInt(KeptFrom)), null, ts)
        }
        i += 1
      }
    }
}
