package brookmere.kernel.state

import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.array.ByteArrayMethods
import org.apache.spark.unsafe.hash.Murmur3_x86_32

/** A key of a store and its row: packed rows as plain arrays, to stay small. */
class Entry(val key: Array[Byte], val hash: Int) {
  /** Null: there is no row. */
  var value: Array[Byte] = null
  var ts: Long = Long.MinValue
  /** Changed since the last flush. */
  var dirty = false
  /** The value before the first change of this batch. */
  var old: Array[Byte] = null
  /** Headers of the record that changed it last; kept only if results are sent once per batch. */
  var headers: Array[Byte] = null
  /** Who sends its result at the end of the batch, if anyone, and its neighbours in that line. */
  var pending: Pending = null
  var before: Entry = null
  var after: Entry = null
  /** The batch that used it last. */
  var used = 0
  /** Bytes that it holds in addition to its key. */
  def held: Long = if (value == null) 0 else value.length
}

/** Entries of a store whose results are sent at the end of the batch, in the order of their last change. */
final class Line {
  private[state] var first: Entry = null
  private[state] var last: Entry = null
  /** The last of the operators that share the line: when its batch ends, all of them have seen theirs. */
  private[state] var closer: Pending = null

  /** Removes all entries, and passes each to the operator that changed it last. */
  private[state] def drain(): Unit = while (first != null) {
    val e = first
    val by = e.pending
    unlink(e)
    by.settle(e)
  }

  private[state] def append(e: Entry): Unit = {
    e.before = last
    if (last == null) first = e else last.after = e
    last = e
  }

  private[state] def unlink(e: Entry): Unit = {
    if (e.before == null) first = e.after else e.before.after = e.after
    if (e.after == null) last = e.before else e.after.before = e.before
    e.before = null
    e.after = null
    e.pending = null
  }
}

/**
 * An operator's part in the line of its store. Operators may share a store: their results are sent in the order of the
 * changes, whoever made them.
 */
final class Pending(line: Line, val settle: Entry => Unit) {
  line.closer = this

  /** Moves an entry to the end of the line; the operator takes it from others that share the store. */
  def touch(e: Entry): Unit = {
    if ((e ne line.last) || e.pending == null) {
      if (e.pending != null) e.pending.leave(e)
      line.append(e)
    }
    e.pending = this
  }

  private def leave(e: Entry): Unit = line.unlink(e)

  /** Sends the results of the batch. */
  def drain(): Unit = if (line.closer eq this) line.drain()
}

/** Entries by key: open addressing with linear probing, removal by shifting back. */
final class EntryTable {
  private var slots = new Array[Entry](1 << 10)
  private var mask = slots.length - 1
  private var count = 0
  /** Bytes of keys and values, roughly, and the overhead of an entry. */
  var bytes = 0L

  def size: Int = count

  def find(key: UnsafeRow, hash: Int): Entry = {
    val n = key.getSizeInBytes
    var i = hash & mask
    var e = slots(i)
    while (e != null) {
      if (e.hash == hash && e.key.length == n &&
        ByteArrayMethods.arrayEquals(e.key, Rows.Base, key.getBaseObject, key.getBaseOffset, n)) return e
      i = (i + 1) & mask
      e = slots(i)
    }
    null
  }

  def add(e: Entry): Unit = {
    if ((count + 1) * 2 > slots.length) grow()
    insert(e)
    count += 1
    bytes += EntryTable.Overhead + e.key.length
  }

  def remove(e: Entry): Unit = {
    var i = e.hash & mask
    while (slots(i) ne e) i = (i + 1) & mask
    var hole = i
    var j = (i + 1) & mask
    while (slots(j) != null) {
      val home = slots(j).hash & mask
      if (((j - home) & mask) >= ((j - hole) & mask)) { slots(hole) = slots(j); hole = j }
      j = (j + 1) & mask
    }
    slots(hole) = null
    count -= 1
    bytes -= EntryTable.Overhead + e.key.length
  }

  def foreach(f: Entry => Unit): Unit = {
    var i = 0
    while (i < slots.length) { if (slots(i) != null) f(slots(i)); i += 1 }
  }

  def toArray: Array[Entry] = {
    val a = new Array[Entry](count)
    var n = 0
    foreach { e => a(n) = e; n += 1 }
    a
  }

  /** Keeps the entries that pass the test. */
  def retain(test: Entry => Boolean): Unit = {
    val kept = toArray.filter(test)
    slots = new Array[Entry](1 << 10)
    mask = slots.length - 1
    count = 0
    bytes = 0
    kept.foreach { e => add(e); bytes += e.held }
  }

  private def insert(e: Entry): Unit = {
    var i = e.hash & mask
    while (slots(i) != null) i = (i + 1) & mask
    slots(i) = e
  }

  private def grow(): Unit = {
    val before = slots
    slots = new Array[Entry](before.length * 2)
    mask = slots.length - 1
    before.foreach(e => if (e != null) insert(e))
  }
}

object EntryTable {
  private val Overhead = 120
  def hash(key: UnsafeRow): Int =
    Murmur3_x86_32.hashUnsafeWords(key.getBaseObject, key.getBaseOffset, key.getSizeInBytes, 42)
}
