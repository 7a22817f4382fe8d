package brookmere.kernel.ops

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection}
import brookmere.kernel.rows.Rows
import brookmere.kernel.state.{Entry, Pending, Store}

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeRow}

/**
 * A processor with a table of its own: puts the result and sends it on, now or once per batch.
 * `result` is what is sent of a row that keeps more than that.
 */
abstract class Storing(id: Int, name: String, store: String, sendOld: Boolean, result: Bound = null)
    extends Evaluating(id, name) with View {
  @transient private var show: Array[Projection] = _
  @transient private var shown: GenericInternalRow = _
  override def open(): Unit = {
    super.open()
    if (result != null) {
      show = Array(result.compile(), result.compile())
      shown = new GenericInternalRow(1)
    }
  }
  private def send(key: UnsafeRow, now: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (result == null) forward(key, now, old, ts) else forward(key, visible(0, now), visible(1, old), ts)
  private def visible(i: Int, row: UnsafeRow): UnsafeRow =
    if (row == null) null else { shown.update(0, row); show(i)(shown) }

  @transient protected[ops] var rows: Store = _
  @transient private var pending: Pending = _
  @transient private var lastOnly = false
  private def stored = store != null

  /** What the rows are computed from where they are not kept. */
  protected def computed: View = null
  override def keptIn: String = store
  override def look(): Look = if (stored) new StoreLook(this, result) else computed.look()
  override def sources: Seq[View] = if (stored) Seq.empty else computed.sources
  override def over(sources: Seq[View]): View = computed.over(sources)

  override def attach(task: Task): Unit = {
    super.attach(task)
    if (stored) {
      rows = task.store(store)
      lastOnly = task.settings.lastPerBatch
      pending = new Pending
    }
  }

  /** `before` is the old value to send on; it may be a view on the entry. */
  protected final def update(e: Entry, key: UnsafeRow, after: UnsafeRow, before: UnsafeRow, ts: Long): Unit =
    if (lastOnly) {
      rows.put(e, after, ts)
      e.headers = task.keepHeaders()
      pending.touch(e)
    } else {
      // The old value's bytes survive the put only if they are copied or still owned by the entry.
      val old = if (sendOld && before != null) before.copy() else null
      rows.put(e, after, ts)
      send(key, rows.value(e), old, ts)
    }

  override def endBatch(): Unit = if (lastOnly) {
    var e = pending.take()
    while (e != null) {
      task.headers(e.headers)
      e.headers = null
      val old = if (sendOld && e.old != null) Rows.of(e.old, rows.valueFields) else null
      // A row that came and went within the batch was never seen.
      if (e.value != null || e.old != null) send(rows.key(e), rows.value(e), old, e.ts)
      e = pending.take()
    }
  }
}

/** Looks into the store of a processor. */
private[ops] final class StoreLook(of: Storing, result: Bound) extends Look {
  private val show = if (result == null) null else result.compile()
  private val shown = if (result == null) null else new GenericInternalRow(1)
  private var row: UnsafeRow = null

  override def get(key: UnsafeRow): UnsafeRow = {
    val e = of.rows.find(key)
    if (e == null) null
    else {
      if (row == null) row = new UnsafeRow(of.rows.valueFields)
      row.pointTo(e.value, e.value.length)
      ts = e.ts
      if (show == null) row else { shown.update(0, row); show(shown) }
    }
  }
}
