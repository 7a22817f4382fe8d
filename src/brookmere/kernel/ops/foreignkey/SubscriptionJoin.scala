package brookmere.kernel.ops.foreignkey

import brookmere.kernel.core._
import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Responds to a subscription with the current right row. */
final class SubscriptionJoin(id: Int, name: String, right: View, keyFields: Int, isText: Boolean)
    extends Processor(id, name) {
  import Subscription._

  @transient private var look: Lookup = _
  @transient private var left: UnsafeRow = _
  @transient private var hash: ValueHash = _
  @transient private var answer: AnswerWriter = _
  override def open(): Unit = {
    super.open()
    look = right.look()
    left = new UnsafeRow(keyFields)
    hash = new ValueHash
    answer = new AnswerWriter(isText)
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val instruction = value.getInt(Instruction)
    if (instruction != Unsubscribe) {
      val row = if (key == null) null else look.get(key)
      if (row != null || instruction != AnswerIfFound) {
        val shown = if (instruction == UnsubscribeAndAnswer) null else row
        val result = answer(shown, hash.read(value, Hash), value.getInt(From))
        forward(Rows.slice(value, Key, left), result, null, if (row == null) ts else math.max(ts, look.ts))
      }
    }
  }
}
