package brookmere.kernel.ops.stateless

import brookmere.kernel.core._

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Drops records without a key. */
final class KeyNotNull(id: Int, name: String) extends Processor(id, name) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (key == null) drop() else forward(key, value, old, ts)
}
