package brookmere.kernel.ops.tables

import brookmere.kernel.core._

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Converts a table's updates to a stream of their new values. */
final class TableToStream(id: Int, name: String) extends Processor(id, name) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = forward(key, value, null, ts)
}
