package brookmere.kernel.ops

import brookmere.kernel.core._

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Hands records and table updates on as they are. */
final class PassThrough(id: Int, name: String) extends Processor(id, name) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = forward(key, value, old, ts)
}
