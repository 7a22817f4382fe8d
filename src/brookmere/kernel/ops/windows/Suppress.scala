package brookmere.kernel.ops.windows

import brookmere.kernel.core._
import brookmere.kernel.expr.RowType
import brookmere.kernel.rows.{KeyOrder, RowWriter, Rows, WindowKeys}
import brookmere.kernel.state.{Clock, GroupStore, Item}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types._

/** How much a buffer may hold; beyond that the oldest updates are emitted early, or the record fails. */
final case class Bounds(records: Long, bytes: Long, stopWhenFull: Boolean)

/**
 * Holds back the updates of a table: until their window closes (`untilClose`), or for a time after the first update of
 * a key. Only the last update of a key is emitted, with its own time and headers.
 */
final class Suppress(id: Int, name: String, store: String, key: RowType, value: RowType, untilClose: Boolean,
    wait: Long, bounds: Bounds,
    isSession: Boolean, parent: View)
    extends Processor(id, name) with View with Idle {
  import Suppress._
  @transient private var rows: GroupStore = _
  @transient private var clock: Clock = _
  @transient private var records: Clock = _
  @transient private var bytes: Clock = _
  @transient private var order: KeyOrder = _
  @transient private var values: KeyOrder = _
  @transient private var packed: RowWriter = _
  @transient private var packedHeaders: UnsafeRow = _
  @transient private var now: UnsafeRow = _
  @transient private var old: UnsafeRow = _
  override def open(): Unit = {
    order = new KeyOrder(key)
    values = new KeyOrder(value)
    packed = new RowWriter(Fields)
    packedHeaders = new UnsafeRow(1)
    now = new UnsafeRow(value.fields)
    old = new UnsafeRow(value.fields)
  }

  override def attach(task: Task): Unit = {
    super.attach(task)
    rows = task.groups(store)
    clock = task.clock(Clock.ofNode(name), Clock.NoTime)
    records = task.clock(Clock.ofNode(name) + ":records", 0L)
    bytes = task.clock(Clock.ofNode(name) + ":bytes", 0L)
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    clock.advance(ts)
    buffer(key, value, old, ts)
    release(clock.time)
    if (isFull) {
      if (bounds.stopWhenFull) {
        throw new IllegalStateException(s"$name buffer exceeded its max capacity. Currently " +
          s"[${records.time}/${bounds.records}] records and [${bytes.time}/${bounds.bytes}] bytes.")
      }
      while (isFull) letGo(oldest())
    }
  }

  override protected def idleTime: Long = clock.time
  override protected def advance(streamTime: Long): Unit = {
    clock.advance(streamTime)
    release(clock.time)
  }

  private def isUnbounded: Boolean = bounds.records == Long.MaxValue && bounds.bytes == Long.MaxValue
  private def isFull: Boolean = records.time > bounds.records || bytes.time > bounds.bytes

  private def buffer(key: UnsafeRow, value: UnsafeRow, before: UnsafeRow, ts: Long): Unit = {
    val g = rows.group(key)
    val known = g.first
    // The first old value is what later processors have seen of the key.
    val prior = if (known == null) before else Rows.slice(rows.value(known), Prior, old)
    val update = pack(prior, before, value, sizeOf(key, prior, before, value))
    val i = if (known != null) known else rows.add(g, if (untilClose) key.getLong(2) else ts, 0L)
    if (known == null) records.time += 1 else bytes.time -= size(known)
    rows.put(i, update, ts)
    bytes.time += size(i)
  }

  private def size(i: Item): Long = rows.value(i).getInt(Size)

  /**
   * The bytes that Kafka Streams counts: time, serialised key and values, each once, topic, offset, partition and
   * headers.
   */
  private def sizeOf(key: UnsafeRow, prior: UnsafeRow, before: UnsafeRow, after: UnsafeRow): Int = {
    if (isUnbounded) return 0
    def n(r: UnsafeRow): Int = if (r == null) 0 else values.bytes(r).length
    // Of a time window only the start is serialised, of a session both ends.
    val window = if (WindowKeys.isWindowed(this.key.dataType) && !isSession) 8 else 0
    val repeated = prior != null && prior == before
    28 + order.bytes(key).length - window + task.topic.length + headerBytes + n(prior) +
      (if (repeated) 0 else n(before)) + n(after)
  }

  private def headerBytes: Int =
    if (task.headersBase == null) 0
    else {
      packedHeaders.pointTo(task.headersBase, task.headersOffset, task.headersSize)
      val list = packedHeaders.getArray(0)
      (0 until list.numElements()).map { i =>
        val one = list.getStruct(i, 2)
        (if (one.isNullAt(0)) 0 else one.getUTF8String(0).numBytes) +
          (if (one.isNullAt(1)) 0 else one.getBinary(1).length)
      }.sum
    }

  /** Emits what has waited long enough at a stream time. */
  private def release(streamTime: Long): Unit = rows.takeUntil(streamTime - wait, order)(letGo)

  private def oldest(): Item = {
    var from = rows.firstTime
    var found = rows.between(from, from, order)
    while (found.isEmpty) {
      rows.forget(from + 1)
      from = rows.firstTime
      found = rows.between(from, from, order)
    }
    found(0)
  }

  private def letGo(i: Item): Unit = {
    val kept = rows.value(i)
    val after = Rows.slice(kept, Now, now)
    if (after != null || !untilClose) {
      val mine = task.keepHeaders()
      task.headers(if (kept.isNullAt(Headers)) null else kept.getBinary(Headers))
      forward(rows.key(i.group), after, Rows.slice(kept, Old, old), i.ts)
      task.headers(mine)
    }
    records.time -= 1
    bytes.time -= size(i)
    rows.put(i, null, i.ts)
  }

  /** struct<prior, old, now, headers, size> of packed rows. */
  private def pack(prior: UnsafeRow, before: UnsafeRow, after: UnsafeRow, size: Int): UnsafeRow = {
    packed.begin()
    packed.row(Prior, prior)
    packed.row(Old, before)
    packed.row(Now, after)
    task.writeHeaders(packed, Headers)
    packed.put(Size, size)
    packed.result()
  }

  // In another stage the table is what was emitted: a copy of that, not one over a copy of the parent.
  override def look(): Lookup = new Lookup {
    private val below = parent.look()
    private val seen = new UnsafeRow(value.fields)
    override def get(key: UnsafeRow): UnsafeRow = {
      val g = rows.find(key)
      val i = if (g == null) null else g.first
      if (i == null) { val r = below.get(key); ts = below.ts; r }
      else {
        ts = View.Unknown
        Rows.slice(Rows.of(i.value, Fields), Prior, seen)
      }
    }
  }
}

object Suppress {
  private val Prior = 0
  private val Old = 1
  private val Now = 2
  private val Headers = 3
  private val Size = 4
  private val Fields = 5
  def keptType(value: RowType): RowType = RowType(new StructType()
    .add("prior", value.schema).add("old", value.schema).add("now", value.schema).add("headers", BinaryType)
    .add("size", IntegerType))
}
