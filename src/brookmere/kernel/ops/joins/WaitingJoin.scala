package brookmere.kernel.ops.joins

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, RowType}
import brookmere.kernel.rows.{KeyOrder, RowWriter, Rows}
import brookmere.kernel.state.{Clock, GroupStore, Item}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types._

/**
 * A stream-table join whose records wait `grace` milliseconds of stream time for the table, and are then joined in the
 * order of time, key and arrival. A record that is later than that is joined at once, or dropped if `dropLate`.
 */
final class WaitingJoin(
    id: Int, name: String, table: View, isLeft: Boolean, joiner: Bound, store: String, grace: Long, dropLate: Boolean,
    keys: RowType,
    valueFields: Int)
    extends Processor(id, name) {
  @transient private var look: Lookup = _
  @transient private var join: Joiner = _
  @transient private var order: KeyOrder = _
  @transient private var packed: RowWriter = _
  @transient private var waiting: GroupStore = _
  @transient private var arrivals: Clock = _
  @transient private var keyRow: UnsafeRow = _
  @transient private var valueRow: UnsafeRow = _
  @transient private var waited: UnsafeRow = _
  override def open(): Unit = {
    super.open()
    look = table.look()
    join = new Joiner(joiner)
    order = new KeyOrder(keys)
    packed = new RowWriter(2)
    keyRow = new UnsafeRow(keys.fields)
    valueRow = new UnsafeRow(valueFields)
    waited = new UnsafeRow(2)
  }
  override def attach(task: Task): Unit = {
    super.attach(task)
    waiting = task.groups(store)
    arrivals = task.clock(Clock.ofNode(name), 0L)
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (value == null || (key == null && !isLeft))
      drop(if (value == null) Dropped.NullValue else Dropped.NullKey, key, value, ts)
    else if (key == null) throw new BadBytes("key cannot be null")
    else if (waiting.clock.time - grace > ts) {
      if (dropLate) drop(Dropped.Late, key, value, ts, waiting.clock.time) else joined(key, value, ts)
    }
    else {
      arrivals.advance(arrivals.time + 1)
      waiting.put(waiting.add(waiting.part(key), ts, arrivals.time), pack(value), ts)
      release(waiting.clock.time - grace)
    }

  private def release(until: Long): Unit = if (waiting.firstTime <= until) {
    val headers = task.keepHeaders()
    waiting.takeUntil(until, order)(release)
    task.headers(headers)
  }

  private def release(i: Item): Unit = {
    keyRow.pointTo(i.group.key, i.group.key.length)
    waited.pointTo(i.value, i.value.length)
    task.headers(waited, WaitingJoin.Headers)
    joined(keyRow, Rows.slice(waited, WaitingJoin.Value, valueRow), i.time)
    waiting.put(i, null, i.time)
  }

  private def joined(key: UnsafeRow, value: UnsafeRow, ts: Long): Unit = {
    val row = if (look.isVersioned) look.get(key, ts) else look.get(key)
    if (row != null || isLeft) forward(key, join(key, value, row, ts), null, ts)
  }

  private def pack(value: UnsafeRow): UnsafeRow = {
    packed.begin()
    packed.row(WaitingJoin.Value, value)
    task.writeHeaders(packed, WaitingJoin.Headers)
    packed.result()
  }
}

object WaitingJoin {
  private val Value = 0
  private val Headers = 1
  def keptType(value: RowType): RowType =
    RowType(new StructType().add("value", value.schema).add("headers", BinaryType))
}
