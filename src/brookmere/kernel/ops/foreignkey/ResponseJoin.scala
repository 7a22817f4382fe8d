package brookmere.kernel.ops.foreignkey

import brookmere.kernel.core._
import brookmere.kernel.expr.Bound
import brookmere.kernel.ops.joins.Joiner
import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Joins a response with the left row, if that has not changed since it subscribed. */
final class ResponseJoin(id: Int, name: String, left: View, isLeft: Boolean, joiner: Bound, rightFields: Int)
    extends Processor(id, name) {
  import Subscription._

  @transient private var look: Lookup = _
  @transient private var join: Joiner = _
  @transient private var right: UnsafeRow = _
  @transient private var hash: ValueHash = _
  @transient private var asked: ValueHash = _
  override def open(): Unit = {
    super.open()
    look = left.look()
    join = new Joiner(joiner)
    right = new UnsafeRow(rightFields)
    hash = new ValueHash
    asked = new ValueHash
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val row = look.get(key)
    if (!hash.of(row).same(asked.read(value, AskedHash))) drop()
    else {
      val other = Rows.slice(value, Value, right)
      val result = if (other == null && (!isLeft || row == null)) null else join(key, row, other, ts)
      forward(key, result, null, ts)
    }
  }
}
