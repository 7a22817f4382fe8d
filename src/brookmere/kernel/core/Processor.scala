package brookmere.kernel.core

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * One node of the topology. A record passes through the processors depth-first. Rows given to `process` are valid
 * during the call only: a processor that keeps one copies it.
 *
 * A stream processor gets (key, value, null); a table processor gets (key, new value, old value).
 */
abstract class Processor(val id: Int, val name: String) extends Serializable {
  var children: Array[Processor] = Array.empty
  @transient protected var task: Task = _
  @transient var received = 0L
  @transient var forwarded = 0L
  @transient var dropped = 0L
  @transient var failures = 0L
  @transient var tooLate = 0L

  /** Compiles expressions, once per thread of execution. */
  def open(): Unit = {}

  /** Switches to another task and its stores. */
  def attach(task: Task): Unit = this.task = task

  def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit

  /** True if the processor depends on the wall clock: its tasks then get ticks. */
  def needsTicks: Boolean = false

  /** Called when the wall clock has advanced, after the records of the batch, parents before children. */
  def tick(wall: Long): Unit = {}

  /** The work before the first record of a batch, step by step. */
  def earlier(): Iterator[Unit] = Iterator.empty

  /** Called after the last record of a batch, parents before children. */
  def endBatch(): Unit = {}

  /** The kind of a failure in this node. */
  protected def failureKind: String = RecordFailed.Processing

  protected final def forward(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    forwarded += 1
    val c = children
    var i = 0
    while (i < c.length) { c(i).receive(key, value, old, ts); i += 1 }
  }

  /** Processes the record inside the guard: a failure affects this node's subtree only. */
  final def receive(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    received += 1
    try process(key, value, old, ts)
    catch {
      case Guarded(e) =>
        failures += 1
        task.failed(failureKind, name, e, ts)
    }
  }

  /** Passes a tick on inside the guard. */
  final def ring(wall: Long): Unit =
    try tick(wall)
    catch {
      case Guarded(e) =>
        failures += 1
        task.failed(failureKind, name, e, task.timestamp)
    }

  protected final def drop(): Unit = dropped += 1

  /** Where dropped records go; null: they are only counted. */
  var late: LateSink = null

  /**
   * Drops a record: counts it, and sends it to the topic for dropped records, if there is one. `reason` is one of
   * Dropped; negative values stand for no stream time and no window.
   */
  protected final def drop(
      reason: String, key: UnsafeRow, value: UnsafeRow, ts: Long,
      streamTime: Long = -1L, start: Long = -1L, end: Long = -1L): Unit = {
    dropped += 1
    if (reason == Dropped.Late) tooLate += 1
    if (late != null) late.take(name, reason, key, value, ts, streamTime, start, end)
  }
}
