package brookmere.kernel.ops.aggregates

import java.util.{Arrays, IdentityHashMap}

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection}
import brookmere.kernel.rows.Rows
import brookmere.kernel.state.{Entry, EntryTable}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Folds the records of a key that one Spark task sees in a batch before they are shuffled: the aggregate in the next
 * stage merges the partial results. If keys hardly repeat, records are sent one by one.
 *
 * It acts for the aggregate: its counts and failures are the aggregate's.
 */
final class Combine(id: Int, name: String, initial: Bound, step: Bound, keyFields: Int, valueFields: Int)
    extends Evaluating(id, name) {
  import Combine._

  @transient private var apply: Projection = _
  @transient private var start: UnsafeRow = _
  @transient private var row: UnsafeRow = _
  @transient private var keyRow: UnsafeRow = _
  @transient private var parts: IdentityHashMap[Task, Parts] = _
  @transient private var part: Parts = _

  override def open(): Unit = {
    super.open()
    apply = step.compile()
    start = Initial(initial)
    row = new UnsafeRow(valueFields)
    keyRow = new UnsafeRow(keyFields)
    parts = new IdentityHashMap[Task, Parts]()
  }

  override def attach(task: Task): Unit = {
    super.attach(task)
    part = parts.computeIfAbsent(task, _ => new Parts)
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (key == null || value == null) drop()
    else if (part.helps) combine(key, value, ts)
    else send(key, folded(key, value, start, ts), ts)

  private def folded(key: UnsafeRow, value: UnsafeRow, before: UnsafeRow, ts: Long): UnsafeRow = {
    record.set(key, value, ts).aggregate = before
    apply(record)
  }

  private def combine(key: UnsafeRow, value: UnsafeRow, ts: Long): Unit = {
    val hash = EntryTable.hash(key)
    var e = part.table.find(key, hash).asInstanceOf[Partial]
    if (e == null && part.table.size >= MaxKeys) {
      // With fewer than two records per key there is little to gain.
      if (part.found < part.table.size) part.helps = false
      send(key, folded(key, value, start, ts), ts)
    } else {
      val after = if (e == null) folded(key, value, start, ts) else {
        part.found += 1
        row.pointTo(e.value, e.value.length)
        folded(key, value, row, ts)
      }
      if (e == null) {
        e = new Partial(Rows.bytes(key), hash)
        part.table.add(e)
      }
      keep(e, after, ts)
    }
  }

  private def keep(e: Partial, after: UnsafeRow, ts: Long): Unit = {
    val n = after.getSizeInBytes
    if (e.value != null && e.value.length == n) {
      org.apache.spark.unsafe.Platform.copyMemory(after.getBaseObject, after.getBaseOffset, e.value, Rows.Base, n)
    } else e.value = Rows.bytes(after)
    if (ts > e.ts) e.ts = ts
    part.last += 1
    // The clock distinguishes sources that one Spark task reads one after the other.
    if (!e.isBehind(task)) {
      e.clock = task.clock
      e.source = task.source
      e.seq = task.seq
      e.number = part.last
      e.headers = task.keepHeaders()
    }
  }

  private def send(key: UnsafeRow, value: UnsafeRow, ts: Long): Unit = {
    var i = 0
    while (i < children.length) { children(i).receive(key, value, null, ts); i += 1 }
  }

  /** Sends the partial results, each at the position of its last record. */
  override def endBatch(): Unit = {
    val all = part.table.toArray.map(_.asInstanceOf[Partial])
    Arrays.sort(all, Partial.order)
    all.foreach { e =>
      task.at(e.clock, e.source, e.seq, e.ts)
      task.headers(e.headers)
      keyRow.pointTo(e.key, e.key.length)
      row.pointTo(e.value, e.value.length)
      send(keyRow, row, e.ts)
    }
    part = new Parts
    parts.put(task, part)
  }
}

object Combine {
  /** At most this many keys are kept at a time. */
  private val MaxKeys = 1 << 15

  /** What a task has combined in this batch. */
  private final class Parts {
    val table = new EntryTable
    var found = 0L
    var last = 0L
    var helps = true
  }

  /** The fold of a key's records, and the position of the last one. */
  private final class Partial(key: Array[Byte], hash: Int) extends Entry(key, hash) {
    var clock = Long.MinValue
    var source = 0
    var seq = 0L
    var number = 0L

    def isBehind(t: Task): Boolean =
      number > 0 && (clock > t.clock ||
        (clock == t.clock && (source > t.source || (source == t.source && seq > t.seq))))
  }

  private object Partial {
    val order: java.util.Comparator[Partial] = (a, b) => {
      var c = java.lang.Long.compare(a.clock, b.clock)
      if (c == 0) c = Integer.compare(a.source, b.source)
      if (c == 0) c = java.lang.Long.compare(a.seq, b.seq)
      if (c == 0) c = java.lang.Long.compare(a.number, b.number)
      c
    }
  }
}
