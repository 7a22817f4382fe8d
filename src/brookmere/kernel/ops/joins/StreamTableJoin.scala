package brookmere.kernel.ops.joins

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Looks up each record in a table: by its own key, or by the key that `mapper` computes. In a versioned table it finds
 * the row as of the record's time.
 */
final class StreamTableJoin(id: Int, name: String, table: View, mapper: Bound, isLeft: Boolean, joiner: Bound)
    extends Evaluating(id, name) {
  @transient private var look: Lookup = _
  @transient private var join: Joiner = _
  @transient private var map: Projection = _
  override def open(): Unit = {
    super.open()
    look = table.look()
    join = new Joiner(joiner)
    if (mapper != null) map = mapper.compile()
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val at = if (mapper == null) key else map(record.set(key, value, ts))
    if (value == null || (at == null && !isLeft))
      drop(if (value == null) Dropped.NullValue else Dropped.NullKey, key, value, ts)
    else {
      val row = if (at == null) null else if (look.isVersioned) look.get(at, ts) else look.get(at)
      if (row != null || isLeft) forward(key, join(key, value, row, ts), null, ts)
    }
  }
}
