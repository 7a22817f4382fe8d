package brookmere.kernel.ops.stateless

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Gives the record a new key, a new value, or both: map, map_values and select_key. */
final class Project(id: Int, name: String, newKey: Bound, newValue: Bound) extends Evaluating(id, name) {
  @transient private var mapKey: Projection = _
  @transient private var mapValue: Projection = _
  override def open(): Unit = {
    super.open()
    if (newKey != null) mapKey = newKey.compile()
    if (newValue != null) mapValue = newValue.compile()
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    record.set(key, value, ts)
    val k = if (newKey == null) key else mapKey(record)
    val v = if (newValue == null) value else mapValue(record)
    forward(k, v, null, ts)
  }
}
