package brookmere.kernel.ops.tables

import brookmere.kernel.core._
import brookmere.kernel.expr.Bound
import brookmere.kernel.state.{Entry, Overlays, Store}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * A processor with a table of its own, one row per key, if it has a store. `result` is the part of a row that is sent.
 */
abstract class KeyValueTable(id: Int, name: String, store: String, sendOld: Boolean, result: Bound = null)
    extends TableProcessor(id, name, sendOld, result) {
  @transient protected[ops] var rows: Store = _
  private def stored = store != null

  /** What the rows are computed from if they are not stored. */
  protected def computed: View = null
  override def keptIn: String = store
  override def look(): Lookup = if (stored) new StoreLookup(this, result) else computed.look()
  override def sources: Seq[View] = if (stored) Seq.empty else computed.sources
  override def over(sources: Seq[View]): View = computed.over(sources)

  override def attach(task: Task): Unit = {
    super.attach(task)
    if (stored) rows = task.store(store) else lastOnly = false
  }

  @transient private var kept: Store = _
  override private[kernel] def beginDryRun(overlays: Overlays): Unit = { kept = rows; rows = overlays.over(kept) }
  override private[kernel] def endDryRun(): Unit = rows = kept

  override protected def put(e: Entry, value: UnsafeRow, ts: Long): Unit = rows.put(e, value, ts)
  override protected def value(e: Entry): UnsafeRow = rows.value(e)
  override protected def valueFields: Int = rows.valueFields
  override protected def entries: Iterator[Entry] = rows.each()
  override protected def keyOf(e: Entry): UnsafeRow = rows.key(e)
}

/** Finds rows in the store of a processor. */
private[ops] final class StoreLookup(of: KeyValueTable, result: Bound) extends Lookup {
  private val shown = new ResultProjection(result)

  override def get(key: UnsafeRow): UnsafeRow = {
    val e = of.rows.find(key)
    if (e == null) null
    else {
      ts = e.ts
      shown(row(e.value, of.rows.valueFields))
    }
  }
}
