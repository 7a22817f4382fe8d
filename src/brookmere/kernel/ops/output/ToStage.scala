package brookmere.kernel.ops.output

import brookmere.kernel.core._
import brookmere.kernel.rows.Change

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Sends a record to a processor of a later stage, within its task. */
final class ToStage(id: Int, name: String, target: Int, isTable: Boolean) extends Processor(id, name) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (isTable) task.sendBytes(task.number, target, key, Change.pack(value, old, task.isLatest), ts)
    else task.send(task.number, target, key, value, ts)
}
