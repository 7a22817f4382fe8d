package brookmere.kernel.ops.windows

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection, RowType}
import brookmere.kernel.ops.aggregates.{Initial, PythonFold}
import brookmere.kernel.ops.tables.{ResultProjection, TableProcessor}
import brookmere.kernel.rows.{KeyOrder, WindowKeys}
import brookmere.kernel.state.{Clock, Entry, Group, GroupStore, Item, Overlays}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The functions of a windowed aggregate. `result` is the part of an aggregate that is sent. */
final case class Fold(
    store: String, key: RowType, initial: Bound, step: Bound, merge: Bound, result: Bound, python: PythonFold = null) {
  def isReduce: Boolean = if (python == null) initial == null else !python.hasInitial
  def kept: RowType = if (python == null) step.result else python.kept
}

/** When and what windowed aggregates send. `all`: also windows that stream time has jumped past. */
final case class Emission(sendOld: Boolean, onClose: Boolean, all: Boolean, skipNulls: Boolean)

/**
 * A table of windows: folds values into the windows of their key, and sends the results at every update, once per
 * batch, or when a window has closed. It has its own stream time.
 */
abstract class WindowAggregate(id: Int, name: String, fold: Fold, emission: Emission)
    extends TableProcessor(id, name, emission.sendOld, fold.result) with Idle {
  @transient protected var rows: GroupStore = _
  @transient protected var clock: Clock = _
  /** The close time up to which windows were sent. */
  @transient private var sentTo: Clock = _
  @transient private var apply: Projection = _
  @transient private var mergeTwo: Projection = _
  @transient protected var start: UnsafeRow = _
  @transient protected var keys: WindowKeys = _
  @transient private var order: KeyOrder = _

  override def open(): Unit = {
    super.open()
    if (fold.step != null) apply = fold.step.compile()
    if (fold.merge != null) mergeTwo = fold.merge.compile()
    start = Initial(fold.initial)
    keys = new WindowKeys(fold.key)
    order = new KeyOrder(fold.key)
  }

  override def attach(task: Task): Unit = {
    super.attach(task)
    rows = task.groups(fold.store)
    clock = task.clock(Clock.ofNode(name), Clock.NoTime)
    sentTo = task.clock(Clock.ofNode(name) + ":sent", Clock.NoTime)
    if (emission.onClose) { lastOnly = false; keepUnsent() }
  }

  override def python: PythonFold = fold.python
  @transient private var kept: (GroupStore, Clock) = _
  override private[kernel] def beginDryRun(overlays: Overlays): Unit = {
    kept = (rows, clock)
    rows = overlays.over(rows)
    clock = new Clock(clock.name, clock.time)
  }
  override private[kernel] def endDryRun(): Unit = { rows = kept._1; clock = kept._2 }

  /** False if a row's updates are not visible before its window has closed. */
  def sendsUpdates: Boolean = !emission.onClose

  /** The bounds of a row's window. */
  protected def startOf(i: Item): Long = i.time
  protected def endOf(i: Item): Long

  protected final def isSkipped(key: UnsafeRow, value: UnsafeRow): Boolean =
    key == null || (emission.skipNulls && value == null)

  /** The aggregate after one more value; null stands for none. */
  protected final def folded(key: UnsafeRow, value: UnsafeRow, before: UnsafeRow, ts: Long): UnsafeRow =
    if (folds != null) folds(fold.python.step, before, null)
    else if (before == null && fold.isReduce) value
    else {
      record.set(key, value, ts).aggregate = before
      apply(record)
    }

  /** Merges two aggregates. */
  protected final def merged(key: UnsafeRow, one: UnsafeRow, other: UnsafeRow, ts: Long): UnsafeRow =
    if (one == null && fold.isReduce) other
    else if (folds != null) folds(fold.python.other, one, other)
    else {
      record.set(key, other, ts).aggregate = one
      mergeTwo(record)
    }

  /** The row of a window if it is visible, else null. */
  protected final def alive(i: Item): Item = if (i == null || i.value == null || i.time < rows.oldest) null else i

  /** Puts a window's aggregate, and sends it unless it waits for the close. `before` is the old value to send. */
  protected final def update(i: Item, key: UnsafeRow, after: UnsafeRow, before: UnsafeRow, ts: Long): Unit =
    if (emission.onClose) keep(i, key, after, ts) else change(i, key, after, before, ts)

  /** True if the bytes of earlier values are read after an update. */
  protected def keepsBytes: Boolean = false
  override protected def put(e: Entry, value: UnsafeRow, ts: Long): Unit = rows.put(item(e), value, ts, keepsBytes)
  override protected def value(e: Entry): UnsafeRow = rows.value(item(e))
  override protected def valueFields: Int = rows.valueFields
  override protected def entries: Iterator[Entry] = rows.rows()
  override protected def keyOf(e: Entry): UnsafeRow = rows.key(item(e).group)
  override protected def sent(key: UnsafeRow, e: Entry): UnsafeRow = keys(key, startOf(item(e)), endOf(item(e)))
  private def item(e: Entry): Item = e.asInstanceOf[Item]

  /** The first time of the rows of windows that have closed since `sentTo`. */
  protected def closedFrom(sentTo: Long): Long
  protected def closedTo(closeTime: Long): Long
  /** False if no window can have closed since the last time. */
  protected def mayHaveClosed(from: Long, to: Long): Boolean = to >= from
  /** Windows that end before this time, or at it if their end is exclusive, have closed. */
  protected def closeTime: Long

  override protected def idleTime: Long = clock.time
  override protected def advance(streamTime: Long): Unit = {
    clock.advance(streamTime)
    emitClosed(closeTime)
  }

  /** Drops a record without key or value. */
  protected final def skip(key: UnsafeRow, value: UnsafeRow, ts: Long): Unit =
    leaveOut(if (key == null) Dropped.NullKey else Dropped.NullValue, key, value, ts)

  /** Drops a record, from all windows or from one. */
  protected final def leaveOut(
      reason: String, key: UnsafeRow, value: UnsafeRow, ts: Long, start: Long = -1L, end: Long = -1L): Unit =
    if (!isDry) drop(reason, key, value, ts, clock.time, start, end)

  /** Sends the windows that have closed, each once. */
  protected final def emitClosed(closeTime: Long): Unit =
    if (emission.onClose && !isDry && (sentTo.time == Clock.NoTime || sentTo.time < closeTime)) {
      val to = closedTo(closeTime)
      if (to >= 0) {
        val from = closedFrom(sentTo.time)
        if (sentTo.time == Clock.NoTime || mayHaveClosed(from, to)) {
          val first = if (emission.all) from else math.max(from, rows.form.droppable(rows.clock.time))
          rows.between(first, to, order).foreach { i =>
            send(rows.key(i.group), i, rows.value(i), null, i.ts)
          }
          sentTo.time = closeTime
          keepUnsent()
        }
      }
    }

  /** Windows that were not sent yet stay, however far stream time jumps. */
  private def keepUnsent(): Unit = if (emission.all) rows.keepFrom = closedFrom(sentTo.time)

  override def keptIn: String = fold.store
  override def look(): Lookup = new Lookup {
    private val shown = new ResultProjection(fold.result)
    override def get(key: UnsafeRow): UnsafeRow = {
      val g = rows.seek(keys.inner(key))
      val i = if (g == null) null else alive(itemOf(g, keys.start(key), keys.end(key)))
      if (i == null) null
      else {
        ts = i.ts
        shown(row(i.value, rows.valueFields))
      }
    }
  }
  protected def itemOf(g: Group, start: Long, end: Long): Item = rows.item(g, start, 0L)
}
