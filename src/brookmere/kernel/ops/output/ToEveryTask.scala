package brookmere.kernel.ops.output

import brookmere.kernel.core._

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Sends a record of a global table to every task of a later stage. */
final class ToEveryTask(id: Int, name: String, target: Int, tasks: Int) extends Processor(id, name) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    var i = 0
    while (i < tasks) { task.send(i, target, key, value, ts); i += 1 }
  }
}
