package brookmere.kernel.ops.output

import brookmere.kernel.core._
import brookmere.kernel.expr.Writer
import brookmere.kernel.rows.Change

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Sends a record to the task of its key, by Kafka's own partitioner; or to the task that a field of the value names.
 */
final class Repartition(id: Int, name: String, target: Int, isTable: Boolean, partitions: Int, keyWriter: Writer,
    taskField: Int = -1)
    extends Processor(id, name) {
  @transient private var clock = 0L
  @transient private var source = 0
  @transient private var seq = 0L
  @transient private var due = Long.MinValue
  override def open(): Unit = keyWriter.open()

  /** Each task has a queue of its own, although one processor serves them all. */
  override def attach(task: Task): Unit = { super.attach(task); due = Long.MinValue }

  /** The latest time among what the current root record has sent here: records in a queue keep their order. */
  private def queued(ts: Long): Long = {
    if (!task.isAt(clock, source, seq)) {
      clock = task.clock
      source = task.source
      seq = task.seq
      due = Long.MinValue
    }
    if (ts > due) due = ts
    due
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val to =
      if (taskField >= 0) value.getInt(taskField)
      else if (partitions == 1) 0
      else if (key == null) 0
      else { keyWriter.write(key); Murmur2.partition(keyWriter.base, keyWriter.offset, keyWriter.size, partitions) }
    if (isTable) task.sendBytes(to, target, key, Change.pack(value, old, task.isLatest), ts, queued(ts))
    else task.send(to, target, key, value, ts, queued(ts))
  }
}
