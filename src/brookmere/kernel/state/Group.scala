package brookmere.kernel.state

import java.util.Arrays

/** A row of a group. `number` and `sub` distinguish rows of one time. */
final class Item(val group: Group, val time: Long, val number: Long, val sub: Array[Byte]) extends Entry(null, 0) {
  /** The sort order of `sub`, if there is one. */
  private[state] var order: Array[Byte] = null
  /** True if the key has no row from this time on: only versions have that. */
  def isDeletion: Boolean = ts == GroupStore.Deleted
  override def held: Long =
    Item.Overhead + (if (value == null) 0 else value.length) + (if (sub == null) 0 else sub.length)
}

object Item {
  private val Overhead = 96
}

/** The rows of one key, by time, then by number or `sub`. */
final class Group(key: Array[Byte], hash: Int) extends Entry(key, hash) {
  private[state] var items: Array[Item] = Group.None
  private[state] var count = 0
  /** True if it is in the table of its store. */
  private[state] var known = false
  /** True if some of its rows no longer have a value. */
  private[state] var hasHoles = false
  /** True if all its rows are in memory, not only those that were asked for. */
  private[state] var whole = false
  /** The bucket of the wheel in which it was put last. */
  private[state] var bucket: Long = Long.MaxValue

  /** Rows, including the positions of deleted ones. */
  def size: Int = count
  def apply(i: Int): Item = items(i)

  /** The position of the first row whose time is at least `time`. */
  def from(time: Long): Int = {
    var low = 0
    var high = count
    while (low < high) { val m = (low + high) >>> 1; if (items(m).time < time) low = m + 1 else high = m }
    low
  }

  /** The earliest row that is not deleted; null if there is none. */
  def first: Item = {
    var i = 0
    while (i < count && items(i).value == null) i += 1
    if (i == count) null else items(i)
  }

  /** The latest row that is not deleted; null if there is none. */
  def last: Item = {
    var i = count - 1
    while (i >= 0 && items(i).value == null) i -= 1
    if (i < 0) null else items(i)
  }

  private[state] def insert(at: Int, item: Item): Unit = {
    if (count == items.length) items = Arrays.copyOf(items, math.max(2, count * 2))
    System.arraycopy(items, at, items, at + 1, count - at)
    items(at) = item
    count += 1
  }

  /** Removes rows without a value. */
  private[state] def compact(): Unit = if (hasHoles) {
    hasHoles = false
    var n = 0
    var i = 0
    while (i < count) {
      if (items(i).value != null) { items(n) = items(i); n += 1 }
      i += 1
    }
    while (i > n) { i -= 1; items(i) = null }
    count = n
  }

  override def held: Long = { var n = 0L; var i = 0; while (i < count) { n += items(i).held; i += 1 }; n }
}

object Group {
  private val None = new Array[Item](0)
}
