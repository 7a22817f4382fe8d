package brookmere.kernel.ops.aggregates

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Computes the group of a table's row. An update that stays in its group is sent as one change; otherwise the old group
 * gets its change first, then the new one. `versioned`: updates older than the latest are ignored.
 */
final class TableGroup(id: Int, name: String, newKey: Bound, newValue: Bound, versioned: Boolean)
    extends Evaluating(id, name) {
  @transient private var keys: Array[Projection] = _
  @transient private var values: Array[Projection] = _
  override def open(): Unit = {
    super.open()
    keys = Array(newKey.compile(), newKey.compile())
    values = Array(newValue.compile(), newValue.compile())
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    if (key == null) throw new BadBytes("a table row without key cannot be grouped")
    if (!versioned || task.isLatest) group(key, value, old, ts)
  }

  private def group(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val nowKey = if (value == null) null else keys(0)(record.set(key, value, ts))
    val now = if (nowKey == null) null else values(0)(record)
    val oldKey = if (old == null) null else keys(1)(record.set(key, old, ts))
    val before = if (oldKey == null) null else values(1)(record)
    if (now != null && before != null && nowKey == oldKey) forward(nowKey, now, before, ts)
    else {
      if (before != null) forward(oldKey, null, before, ts)
      if (now != null) forward(nowKey, now, null, ts)
    }
  }
}
