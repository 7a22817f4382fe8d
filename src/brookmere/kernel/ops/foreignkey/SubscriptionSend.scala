package brookmere.kernel.ops.foreignkey

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection}
import brookmere.kernel.rows.RowWriter

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The left side of a foreign-key join: subscribes to the right row that a left row needs, and unsubscribes from the one
 * that it no longer needs. `versioned`: updates older than the latest are ignored.
 */
final class SubscriptionSend(id: Int, name: String, foreignKey: Bound, isLeft: Boolean, versioned: Boolean)
    extends Evaluating(id, name) {
  import Subscription._

  @transient private var extractNew: Projection = _
  @transient private var extractOld: Projection = _
  @transient private var hash: ValueHash = _
  @transient private var row: RowWriter = _
  override def open(): Unit = {
    super.open()
    extractNew = foreignKey.compile()
    extractOld = foreignKey.compile()
    hash = new ValueHash
    row = new RowWriter(5)
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (versioned && !task.isLatest) drop()
    else {
      val before = if (old == null) null else extractOld(record.set(key, old, ts))
      val now = if (value == null) null else extractNew(record.set(key, value, ts))
      hash.of(value)
      if (isLeft) left(key, now, before, value != null || old != null, ts)
      else inner(key, now, before, value != null, ts)
    }

  /** In a left join every left row has a result, so the right side always responds. */
  private def left(key: UnsafeRow, now: UnsafeRow, before: UnsafeRow, isChange: Boolean, ts: Long): Unit =
    if (isChange) {
      if (before != null && before != now) send(before, key, Unsubscribe, ts)
      send(now, key, Answer, ts)
    }

  private def inner(key: UnsafeRow, now: UnsafeRow, before: UnsafeRow, isThere: Boolean, ts: Long): Unit =
    if (now == null) {
      if (isThere) drop()
      if (before != null) send(before, key, UnsubscribeAndAnswer, ts)
    } else if (before == null || before == now) send(now, key, AnswerIfFound, ts)
    else {
      send(before, key, Unsubscribe, ts)
      send(now, key, Answer, ts)
    }

  private def send(to: UnsafeRow, key: UnsafeRow, instruction: Int, ts: Long): Unit = {
    row.begin()
    row.row(Key, key)
    hash.write(row, Hash)
    row.put(Instruction, instruction)
    row.put(From, task.number)
    forward(to, row.result(), null, ts)
  }
}
