package brookmere.kernel.ops.joins

import brookmere.kernel.core._
import brookmere.kernel.expr.Bound

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Joins the updates of one table with the row that another table has for the key. `needsOwn` and `needsOther` say which
 * rows a result requires. `versioned`: updates older than the latest are ignored.
 */
final class TableJoin(
    id: Int, name: String, val other: View, val joiner: Bound, val isLeft: Boolean, needsOwn: Boolean,
    needsOther: Boolean,
    sendOld: Boolean, versioned: Boolean)
    extends Processor(id, name) {
  @transient private var look: Lookup = _
  @transient private var joinNow: Joiner = _
  @transient private var joinOld: Joiner = _
  override def open(): Unit = {
    super.open()
    look = other.look()
    joinNow = new Joiner(joiner)
    joinOld = new Joiner(joiner)
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (key == null || (versioned && !task.isLatest)) drop()
    else {
      val row = look.get(key)
      if (row == null) {
        if (!needsOther && (value != null || old != null)) result(key, value, old, null, ts)
      } else result(key, value, old, row, math.max(ts, look.ts))
    }

  private def result(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, row: UnsafeRow, ts: Long): Unit = {
    val now = joined(joinNow, key, value, row, ts)
    forward(key, now, if (sendOld) joined(joinOld, key, old, row, ts) else null, ts)
  }

  private def joined(join: Joiner, key: UnsafeRow, own: UnsafeRow, row: UnsafeRow, ts: Long): UnsafeRow =
    if (own == null && (needsOwn || row == null)) null
    else if (isLeft) join(key, own, row, ts)
    else join(key, row, own, ts)
}

/** The rows of two views, joined by their key. */
final class JoinView(joiner: Bound, needsLeft: Boolean, needsRight: Boolean, left: View, right: View) extends View {
  override def sources: Seq[View] = Seq(left, right)
  override def over(sources: Seq[View]): View = new JoinView(joiner, needsLeft, needsRight, sources.head, sources.last)
  override def look(): Lookup = new Lookup {
    private val fromLeft = left.look()
    private val fromRight = right.look()
    private val join = new Joiner(joiner)
    override def get(key: UnsafeRow): UnsafeRow = {
      val l = fromLeft.get(key)
      if (l == null && needsLeft) null
      else {
        val r = fromRight.get(key)
        if (r == null && (needsRight || l == null)) null
        else {
          ts = if (l == null) fromRight.ts else if (r == null) fromLeft.ts else math.max(fromLeft.ts, fromRight.ts)
          join(key, l, r, ts)
        }
      }
    }
  }
}
