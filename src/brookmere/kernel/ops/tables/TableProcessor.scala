package brookmere.kernel.ops.tables

import brookmere.kernel.core._
import brookmere.kernel.expr.Bound
import brookmere.kernel.ops.aggregates.{Folds, PythonFold}
import brookmere.kernel.rows.Rows
import brookmere.kernel.state.{Entry, Overlays, Pending}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * A processor that keeps rows of a table and sends their updates: at once, or the last one of each row at the end of
 * the batch. `result` is the part of a row that is sent.
 */
abstract class TableProcessor(id: Int, name: String, sendOld: Boolean, result: Bound)
    extends Evaluating(id, name) with View with HasSnapshot {
  @transient private var showNow: ResultProjection = _
  @transient private var showOld: ResultProjection = _
  @transient private var pending: Pending = _
  @transient protected var lastOnly = false
  /** Every update is sent at once, because processors look up rows that are computed from them. */
  var isHurried = false
  /** Receives the updates of rows that are not sent on; null without a changelog. */
  var log: Processor = null
  /** The functions that Python runs; null where the aggregate is Columns. */
  def python: PythonFold = null
  @transient private[kernel] var folds: Folds = _
  protected final def isDry: Boolean = folds != null && folds.isDry

  /** Turns to views of the store and of the clock, until the dry run ends. */
  private[kernel] def beginDryRun(overlays: Overlays): Unit = {}
  private[kernel] def endDryRun(): Unit = {}

  /** The value before an update, to send on; where there was no row, the initial value that Python started from. */
  protected final def valueBefore(before: UnsafeRow): UnsafeRow =
    if (before == null && folds != null) folds.initial else before

  override def open(): Unit = {
    super.open()
    showNow = new ResultProjection(result)
    showOld = new ResultProjection(result)
  }
  override def attach(task: Task): Unit = {
    super.attach(task)
    lastOnly = task.settings.lastPerBatch && !isHurried
    pending = new Pending(task.line(keptIn), settle)
  }

  /** Puts a value into the store; null removes the row. */
  protected def put(e: Entry, value: UnsafeRow, ts: Long): Unit
  /** The value as a row, valid until the next call. */
  protected def value(e: Entry): UnsafeRow
  protected def valueFields: Int
  /** All rows of the task. */
  protected def entries: Iterator[Entry]
  /** The key that the store has for a row. */
  protected def keyOf(e: Entry): UnsafeRow
  /** The key that an update of a row is sent with: `key`, or one computed from it. */
  protected def sent(key: UnsafeRow, e: Entry): UnsafeRow = key

  /** Puts a row and sends the update. `before` is the old value to send; it may be a view on the row. */
  protected final def change(e: Entry, key: UnsafeRow, after: UnsafeRow, before: UnsafeRow, ts: Long): Unit =
    if (isDry) put(e, after, ts)
    else if (lastOnly) {
      put(e, after, ts)
      e.headers = task.keepHeaders()
      pending.touch(e)
    } else {
      // The old value's bytes survive the put only if they are copied or still owned by the row.
      val old = if (sendOld && before != null) before.copy() else null
      put(e, after, ts)
      send(key, e, value(e), old, ts)
    }

  protected final def send(key: UnsafeRow, e: Entry, now: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    forward(sent(key, e), showNow(now), showOld(old), ts)

  /** Puts a row whose update is not sent on, and logs it: at once, or the last one at the end of the batch. */
  protected final def keep(e: Entry, key: UnsafeRow, after: UnsafeRow, ts: Long): Unit = {
    put(e, after, ts)
    if (log != null && !isDry) { if (task.settings.lastPerBatch) pending.touch(e) else writeLog(key, e, ts) }
  }

  private def writeLog(key: UnsafeRow, e: Entry, ts: Long): Unit =
    log.receive(sent(key, e), showNow(value(e)), null, ts)

  override def snapshot(to: (UnsafeRow, UnsafeRow, Long) => Unit): Iterator[Unit] =
    entries.map(e => to(sent(keyOf(e), e), showNow(value(e)), e.ts))

  override def endBatch(): Unit = pending.drain()

  private def settle(e: Entry): Unit = {
    // A row that was added and removed within the batch was never seen.
    val isSeen = e.value != null || e.old != null
    if (lastOnly) {
      task.headers(e.headers)
      e.headers = null
      val old = if (sendOld && e.old != null) Rows.of(e.old, valueFields) else null
      if (isSeen) send(keyOf(e), e, value(e), old, e.ts)
    } else if (isSeen) writeLog(keyOf(e), e, e.ts)
  }
}
