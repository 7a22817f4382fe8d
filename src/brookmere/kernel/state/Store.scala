package brookmere.kernel.state

import java.util.{ArrayList, Arrays}

import scala.reflect.ClassTag

import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** What a task keeps by name. */
trait Kept {
  /** The number of the batch, for caches. */
  var batch = 0
  /** Writes the changes of the batch. */
  def flush(): Unit
  /** Makes the changes of the current batch visible to an iteration over all rows. */
  def settle(): Unit = {}
}

/**
 * A named store of one task, with a write-back cache: changes are collected during a batch and written once at its end.
 */
abstract class Store(val name: String, val keyFields: Int, val valueFields: Int, protected val entries: EntryTable)
    extends Kept {
  protected val dirty = new ArrayList[Entry]()
  private val valueRow = new UnsafeRow(valueFields)
  private val keyRow = new UnsafeRow(keyFields)

  /** The entry of a key; one without value if there is no row. */
  def entry(key: UnsafeRow): Entry

  /** The entry of a key, for reading only; null if there is no row. */
  def find(key: UnsafeRow): Entry

  /** The value as a row, valid until the next call. */
  final def value(e: Entry): UnsafeRow =
    if (e.value == null) null else { valueRow.pointTo(e.value, e.value.length); valueRow }

  final def key(e: Entry): UnsafeRow = { keyRow.pointTo(e.key, e.key.length); keyRow }

  /** Replaces the value by a copy of `value`; null removes the row. */
  final def put(e: Entry, value: UnsafeRow, ts: Long): Unit = {
    val before = e.value
    val first = !e.dirty
    if (first) { e.dirty = true; e.old = before; dirty.add(e) }
    e.ts = ts
    if (value == null) {
      if (before != null) entries.bytes -= before.length
      e.value = null
    } else {
      val n = value.getSizeInBytes
      // An array that belongs to this batch and has the right size can be overwritten.
      if (!first && before != null && before.length == n && (before ne e.old)) {
        Platform.copyMemory(value.getBaseObject, value.getBaseOffset, before, Rows.Base, n)
      } else {
        e.value = Rows.bytes(value)
        entries.bytes += n - (if (before == null) 0 else before.length)
      }
    }
  }

  /** Every row of the task, in byte order of the keys. Call it after a flush. */
  def all(): Iterator[Entry]

  /** Like `all`, in any order, and without all of them in memory. */
  def each(): Iterator[Entry] = all()

  protected final def newEntry(key: UnsafeRow, hash: Int): Entry = {
    val e = new Entry(Rows.bytes(key), hash)
    entries.add(e)
    e
  }

  protected final def clean(e: Entry): Unit = { e.dirty = false; e.old = null }

  protected final def sortDirty(): Unit =
    if (dirty.size > 1) dirty.sort((a: Entry, b: Entry) => Arrays.compareUnsigned(a.key, b.key))
}

object Store {
  /** How much a store may keep in memory. */
  final case class Limits(cacheBytes: Long, logBytes: Long)

  /** Opens the stores of a task; `caches` may hold what the previous batch has left. */
  def open(all: Array[StoreDef], backend: Backend, task: Int, times: Times, caches: java.util.Map[String, AnyRef],
      limits: Limits): Map[String, Kept] =
    all.map { d =>
      val places = new Places(d, s"$task/${d.name}", caches, limits)
      d.name -> (d.groups match {
        case None => places.open(
          new LogTable, (t: LogTable, max) => new LogStore(d, backend, task, t, max),
          new EntryTable, (t: EntryTable) => new RocksStore(d, backend, task, t, limits.cacheBytes))
        case Some(form) => places.open(
          new GroupTable(form), (t: GroupTable, max) => new GroupLog(d, backend, task, times, t, max),
          new GroupCache, (t: GroupCache) => new GroupRows(d, backend, task, times, t, limits.cacheBytes))
      })
    }.toMap

  /** Finds out whether a store is in memory or has single rows, and what the previous batch has left of it. */
  private final class Places(d: StoreDef, name: String, caches: java.util.Map[String, AnyRef], limits: Limits) {
    def open[L <: LogPlace: ClassTag, C <: AnyRef: ClassTag](
        newLog: => L, log: (L, Long) => Kept, newCache: => C, rows: C => Kept): Kept = {
      def ofRows = rows(left[C](newCache))
      val isOfRows = caches.get(name) match { case _: C => true; case _ => d.kind == StoreDef.RocksDb }
      if (isOfRows) ofRows
      else {
        val table = left[L](newLog)
        val store = log(table, if (d.kind == StoreDef.Auto) limits.logBytes else Long.MaxValue)
        // Only its log says that a store has outgrown memory.
        if (table.moved) ofRows else store
      }
    }

    private def left[T <: AnyRef: ClassTag](made: => T): T = caches.get(name) match {
      case t: T => t
      case _ => val t = made; caches.put(name, t); t
    }
  }
}

/** Builds the state rows of a task: the task before the key, the time before the value. */
final class StateRows(task: Int) {
  private var keyBytes = new Array[Byte](128)
  private val keyRow = new UnsafeRow(2)
  private var valueBytes = new Array[Byte](128)
  private val valueRow = new UnsafeRow(2)

  def key(k: Array[Byte]): UnsafeRow = {
    val n = k.length
    if (keyBytes.length < StateRows.KeyHead + n) keyBytes = new Array[Byte]((StateRows.KeyHead + n) * 2)
    val b = keyBytes
    Platform.putLong(b, Rows.Base, 0L)
    Platform.putLong(b, Rows.Base + 8, (24L << 32) | 16L)
    Platform.putLong(b, Rows.Base + 16, (StateRows.KeyHead.toLong << 32) | n)
    Platform.putLong(b, Rows.Base + 24, 0L)
    Platform.putLong(b, Rows.Base + 32, task & 0xffffffffL)
    Platform.copyMemory(k, Rows.Base, b, Rows.Base + StateRows.KeyHead, n)
    keyRow.pointTo(b, Rows.Base, StateRows.KeyHead + n)
    keyRow
  }

  def value(v: Array[Byte], ts: Long): UnsafeRow = {
    val n = v.length
    if (valueBytes.length < StateRows.ValueHead + n) valueBytes = new Array[Byte]((StateRows.ValueHead + n) * 2)
    val b = valueBytes
    Platform.putLong(b, Rows.Base, 0L)
    Platform.putLong(b, Rows.Base + 8, ts)
    Platform.putLong(b, Rows.Base + 16, (StateRows.ValueHead.toLong << 32) | n)
    Platform.copyMemory(v, Rows.Base, b, Rows.Base + StateRows.ValueHead, n)
    valueRow.pointTo(b, Rows.Base, StateRows.ValueHead + n)
    valueRow
  }
}

object StateRows {
  val KeyHead = 40
  val ValueHead = 24
  def taskOf(stateKey: UnsafeRow): Int = stateKey.getStruct(0, 1).getInt(0)
  def keyOf(stateKey: UnsafeRow, fields: Int): UnsafeRow = stateKey.getStruct(1, fields)
  def timeOf(stateValue: UnsafeRow): Long = stateValue.getLong(0)
  def valueOf(stateValue: UnsafeRow, fields: Int): UnsafeRow = stateValue.getStruct(1, fields)
}
