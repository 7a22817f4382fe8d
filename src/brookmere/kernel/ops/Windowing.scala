package brookmere.kernel.ops

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection, RowType}
import brookmere.kernel.rows.{KeyOrder, Rows, WindowKeys}
import brookmere.kernel.state.{Clock, GroupStore, Item, Pending}

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeRow}

/** What all windowed aggregates are made of. `result` is what is sent of an aggregate that keeps more than that. */
final case class Fold(store: String, key: RowType, initial: Bound, step: Bound, merge: Bound, result: Bound) {
  def isReduce: Boolean = initial == null
}

/** When and to whom windowed aggregates send. `all`: also windows that stream time has jumped past. */
final case class Emission(sendOld: Boolean, onClose: Boolean, all: Boolean, skipNulls: Boolean)

/**
 * A table of windows: folds values into windows of their key, and sends the results, at every
 * update, once per batch, or when a window has closed. Its stream time is its own.
 */
abstract class Windowing(id: Int, name: String, fold: Fold, emission: Emission) extends Evaluating(id, name) with View with Idle {
  @transient protected var rows: GroupStore = _
  @transient protected var clock: Clock = _
  /** The close time up to which windows were sent. */
  @transient private var sent: Clock = _
  @transient private var apply: Projection = _
  @transient private var mergeTwo: Projection = _
  @transient protected var start: UnsafeRow = _
  @transient protected var keys: WindowKeys = _
  @transient private var order: KeyOrder = _
  @transient private var show: Array[Projection] = _
  @transient private var shown: GenericInternalRow = _
  @transient private var pending: Pending = _
  @transient private var lastOnly = false

  override def open(): Unit = {
    super.open()
    apply = fold.step.compile()
    if (fold.merge != null) mergeTwo = fold.merge.compile()
    start = Initial(fold.initial)
    keys = new WindowKeys(fold.key)
    order = new KeyOrder(fold.key)
    if (fold.result != null) {
      show = Array(fold.result.compile(), fold.result.compile())
      shown = new GenericInternalRow(1)
    }
  }

  override def attach(task: Task): Unit = {
    super.attach(task)
    rows = task.groups(fold.store)
    clock = task.clock(Clock.ofNode(name), Windowing.NoTime)
    sent = task.clock(Clock.ofNode(name) + ":sent", Windowing.NoTime)
    lastOnly = task.settings.lastPerBatch && !emission.onClose
    pending = new Pending
    if (emission.onClose) keepUnsent()
  }

  /** The bounds of the window that a row stands for. */
  protected def startOf(i: Item): Long = i.time
  protected def endOf(i: Item): Long

  protected final def isSkipped(key: UnsafeRow, value: UnsafeRow): Boolean = key == null || (emission.skipNulls && value == null)

  /** The aggregate after one more value. Null is no aggregate. */
  protected final def folded(key: UnsafeRow, value: UnsafeRow, before: UnsafeRow, ts: Long): UnsafeRow =
    if (before == null && fold.isReduce) value
    else {
      record.set(key, value, ts).aggregate = before
      apply(record)
    }

  /** One aggregate of two. */
  protected final def merged(key: UnsafeRow, one: UnsafeRow, other: UnsafeRow, ts: Long): UnsafeRow =
    if (one == null && fold.isReduce) other
    else {
      record.set(key, other, ts).aggregate = one
      mergeTwo(record)
    }

  /** The row of a window that can be found; null if there is none. */
  protected final def alive(i: Item): Item = if (i == null || i.value == null || i.time < rows.oldest) null else i

  /** Puts a window's aggregate and sends it on. `before` is the old value to tell; it may be a view on the row. */
  protected final def update(i: Item, key: UnsafeRow, after: UnsafeRow, before: UnsafeRow, ts: Long, keep: Boolean = false): Unit =
    if (emission.onClose) rows.put(i, after, ts, keep)
    else if (lastOnly) {
      rows.put(i, after, ts, keep)
      i.headers = task.keepHeaders()
      pending.touch(i)
    } else {
      val old = if (emission.sendOld && before != null) before.copy() else null
      rows.put(i, after, ts, keep)
      send(key, i, rows.value(i), old, ts)
    }

  private def send(key: UnsafeRow, i: Item, now: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val windowed = keys(key, startOf(i), endOf(i))
    if (fold.result == null) forward(windowed, now, old, ts) else forward(windowed, visible(0, now), visible(1, old), ts)
  }
  private def visible(i: Int, row: UnsafeRow): UnsafeRow =
    if (row == null) null else { shown.update(0, row); show(i)(shown) }

  override def endBatch(): Unit = if (lastOnly) {
    var e = pending.take()
    while (e != null) {
      val i = e.asInstanceOf[Item]
      task.headers(i.headers)
      i.headers = null
      val old = if (emission.sendOld && i.old != null) Rows.of(i.old, rows.valueFields) else null
      // A window that came and went within the batch was never seen.
      if (i.value != null || i.old != null) send(rows.key(i.group), i, rows.value(i), old, i.ts)
      e = pending.take()
    }
  }

  /** The rows of closed windows, as times from and to, for a new close time; to below from: none. */
  protected def closedFrom(sentTo: Long): Long
  protected def closedTo(closeTime: Long): Long
  /** False where nothing can have closed since the last time. */
  protected def mayHaveClosed(from: Long, to: Long): Boolean = to >= from
  /** Windows that end before this time, or at it where their end is exclusive, have closed. */
  protected def closeTime: Long

  override protected def idleTime: Long = clock.time
  override protected def advance(streamTime: Long): Unit = {
    clock.advance(streamTime)
    emitClosed(closeTime)
  }

  /** Drops a record that comes without key or value. */
  protected final def skip(key: UnsafeRow, value: UnsafeRow, ts: Long): Unit =
    drop(if (key == null) Dropped.NullKey else Dropped.NullValue, key, value, ts, clock.time)

  /** Sends the windows that have closed, each once. */
  protected final def emitClosed(closeTime: Long): Unit =
    if (emission.onClose && (sent.time == Windowing.NoTime || sent.time < closeTime)) {
      val to = closedTo(closeTime)
      if (to >= 0) {
        val from = closedFrom(sent.time)
        if (sent.time == Windowing.NoTime || mayHaveClosed(from, to)) {
          rows.between(if (emission.all) from else math.max(from, rows.form.droppable(rows.clock.time)), to, order).foreach { i =>
            send(rows.key(i.group), i, rows.value(i), null, i.ts)
          }
          sent.time = closeTime
          keepUnsent()
        }
      }
    }

  /** Windows that were not sent yet stay, however far stream time jumps. */
  private def keepUnsent(): Unit = if (emission.all) rows.keepFrom = closedFrom(sent.time)

  override def keptIn: String = fold.store
  override def look(): Look = new Look {
    private val found = new UnsafeRow(fold.step.result.fields)
    private val part = if (fold.result == null) null else fold.result.compile()
    private val whole = new GenericInternalRow(1)
    override def get(key: UnsafeRow): UnsafeRow = {
      val g = rows.seek(keys.inner(key))
      val i = if (g == null) null else alive(itemOf(g, keys.start(key), keys.end(key)))
      if (i == null) null
      else {
        ts = i.ts
        found.pointTo(i.value, i.value.length)
        if (part == null) found else { whole.update(0, found); part(whole) }
      }
    }
  }
  protected def itemOf(g: brookmere.kernel.state.Group, start: Long, end: Long): Item = rows.item(g, start, 0L)
}

object Windowing {
  /** What stream time is before the first record. */
  val NoTime: Long = -1L
}
