package brookmere.kernel.ops.output

import brookmere.kernel.core._

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Passes records to a Python function on the driver: key and value leave as packed rows. */
final class Tap(id: Int, name: String) extends Processor(id, name) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    task.send(task.number, id, key, value, ts)
    forward(key, value, null, ts)
  }
}
