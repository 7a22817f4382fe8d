package brookmere.kernel.state

import java.util.{ArrayList, Arrays}

import brookmere.kernel.rows.{KeyOrder, Rows, WindowKeys}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * A store with several rows per key, in order of time: windows, sessions, versions, the buffers of joins. Its own time
 * is the latest time put into it; rows that are older than the retention, relative to that, can no longer be found and
 * are dropped some time later.
 */
abstract class GroupStore(val d: StoreDef, protected val groups: EntryTable, final val clock: Clock) extends Kept {
  final val form: Groups = d.groups.get
  final val keyFields: Int = d.key.fields
  final val valueFields: Int = d.value.fields
  protected final val dirty = new ArrayList[Item]()
  private val valueRow = new UnsafeRow(valueFields)
  private val keyRow = new UnsafeRow(keyFields)
  private val subOrder = form.sub.map(t => new KeyOrder(t)).orNull
  private val subRow = form.sub.map(t => new UnsafeRow(t.fields)).orNull

  /** The group of a key with all its rows; null if it has none. */
  def find(key: UnsafeRow): Group

  /** The group of a key with all its rows, created if it does not exist. */
  def group(key: UnsafeRow): Group

  /** The group of a key for access to single rows by `item`: some of its rows may not be in memory. */
  def part(key: UnsafeRow): Group

  /** Like `part`, but for reading: null if there are no rows. */
  def seek(key: UnsafeRow): Group

  /** The row of a time and number, deleted or not; null if there is none. */
  def item(g: Group, time: Long, number: Long): Item = {
    val i = position(g, time, number, null)
    if (i < g.count && same(g.items(i), time, number)) g.items(i) else null
  }

  /** The row of a packed `sub`; null if there is none. */
  final def item(g: Group, sub: UnsafeRow): Item = {
    val i = position(g, 0L, 0L, subOrder.bytes(sub))
    if (i < g.count && Arrays.equals(g.items(i).sub, Rows.bytes(sub))) g.items(i) else null
  }

  /** A new row after those of the same time and number. It has no value until `put`. */
  final def add(g: Group, time: Long, number: Long, sub: UnsafeRow = null): Item = {
    val item = new Item(g, time, number, Rows.bytes(sub))
    if (sub != null) item.order = subOrder.bytes(sub)
    insert(g, item)
    if (form.retention != Groups.Forever || form.timed) register(g, time)
    item
  }

  /** Puts a row at its position in a group, while the state is read. */
  protected final def place(g: Group, item: Item): Unit = {
    if (item.sub != null) { subRow.pointTo(item.sub, item.sub.length); item.order = subOrder.bytes(subRow) }
    insert(g, item)
  }

  private def insert(g: Group, item: Item): Unit = {
    // A group is added to the table with its first row.
    if (!g.known) { g.known = true; groups.add(g) }
    g.insert(position(g, item.time, item.number, item.order), item)
    groups.bytes += item.held
  }

  private def same(i: Item, time: Long, number: Long): Boolean = i.time == time && i.number == number

  private def position(g: Group, time: Long, number: Long, order: Array[Byte]): Int = {
    // Most rows come in order.
    if (g.count > 0 && order == null) {
      val last = g.items(g.count - 1)
      if (last.time < time || (last.time == time && last.number < number)) return g.count
    }
    var low = 0
    var high = g.count
    while (low < high) {
      val m = (low + high) >>> 1
      val o = g.items(m)
      var c = java.lang.Long.compare(o.time, time)
      if (c == 0) c = java.lang.Long.compare(o.number, number)
      if (c == 0 && order != null) c = Arrays.compareUnsigned(o.order, order)
      if (c < 0) low = m + 1 else high = m
    }
    low
  }

  /** The value as a row, valid until the next call. */
  final def value(i: Item): UnsafeRow =
    if (i.value == null) null else { valueRow.pointTo(i.value, i.value.length); valueRow }

  final def key(g: Group): UnsafeRow = { keyRow.pointTo(g.key, g.key.length); keyRow }

  /** Replaces the value; null removes the row. `keep`: the bytes of the previous value stay unchanged. */
  final def put(i: Item, value: UnsafeRow, ts: Long, keep: Boolean = false): Unit = {
    val before = i.value
    val first = !i.dirty
    if (first) { i.dirty = true; i.old = before; dirty.add(i) }
    i.ts = ts
    clock.advance(i.time)
    if (value == null) {
      if (before != null) groups.bytes -= before.length
      i.value = null
      i.group.hasHoles = true
    } else {
      val n = value.getSizeInBytes
      if (!keep && !first && before != null && before.length == n && (before ne i.old)) {
        Platform.copyMemory(value.getBaseObject, value.getBaseOffset, before, Rows.Base, n)
      } else {
        i.value = Rows.bytes(value)
        groups.bytes += n - (if (before == null) 0 else before.length)
      }
    }
  }

  /** Rows before this time can no longer be found. */
  final def oldest: Long = form.oldest(clock.time)

  /** Rows from this time on are kept whatever their age. */
  var keepFrom: Long = Long.MaxValue
  protected final def droppable: Long = math.min(form.droppable(clock.time), keepFrom)

  protected final def canBeFound(i: Item): Boolean = form.shape == Groups.Versions || i.time >= oldest

  /** Rows of all keys between two times, both inclusive, by time, then by key, then by number. For timed stores. */
  final def between(from: Long, to: Long, order: KeyOrder): Array[Item] = {
    val found = new java.util.LinkedHashSet[Item]()
    groupsBetween(from, to).foreach { g =>
      var i = g.from(from)
      while (i < g.count && g.items(i).time <= to) {
        if (g.items(i).value != null) found.add(g.items(i))
        i += 1
      }
    }
    sorted(found, order)
  }

  protected final def sorted(found: java.util.Collection[Item], order: KeyOrder): Array[Item] = {
    val keyed = new Array[(Item, Array[Byte])](found.size)
    var n = 0
    found.forEach { i => keyed(n) = (i, order.bytes(key(i.group))); n += 1 }
    Arrays.sort(keyed, (a: (Item, Array[Byte]), b: (Item, Array[Byte])) => {
      var c = java.lang.Long.compare(a._1.time, b._1.time)
      if (c == 0) c = java.lang.Long.compare(rank(a._1.number), rank(b._1.number))
      if (c == 0) c = Arrays.compareUnsigned(a._2, b._2)
      if (c == 0) c = java.lang.Long.compare(a._1.number, b._1.number)
      c
    })
    keyed.map(_._1)
  }

  /**
   * Passes the rows of all keys up to a time, in order, to `f`, which removes them. For timed stores without expiry.
   */
  final def takeUntil(to: Long, order: KeyOrder)(f: Item => Unit): Unit = if (firstTime <= to) {
    between(Long.MinValue, to, order).foreach(f)
    forget(to + 1)
  }

  /** Among rows of one time, those of a lower rank come first, whatever their keys. */
  private def rank(number: Long): Long = if (form.shape == Groups.Session) number else number >>> GroupStore.RankShift

  /** Forgets which keys have rows before a time, because they have none. For timed stores without expiry. */
  def forget(before: Long): Unit

  /** Records that a group has rows of a time. */
  protected def register(g: Group, time: Long): Unit

  /** Groups that may have rows between two times, both inclusive; all their rows are in memory. */
  protected def groupsBetween(from: Long, to: Long): Iterator[Group]

  /** The time of the earliest row, or an earlier one; Long.MaxValue if there are none. For timed stores. */
  def firstTime: Long

  /** Every row of the task that can be found. Call it after a flush. */
  def rows(): Iterator[Item]

  /** Removes the rows of a group before a time; of versions, those that were no longer valid at that time. */
  protected final def expired(g: Group, bound: Long): Unit = {
    val end = if (form.shape == Groups.Versions) valid(g, bound) else g.from(bound)
    var i = 0
    while (i < end) {
      val item = g.items(i)
      if (item.value != null) {
        if (!item.dirty) { item.dirty = true; item.old = item.value; dirty.add(item) }
        groups.bytes -= item.value.length
        item.value = null
        g.hasHoles = true
      }
      i += 1
    }
  }

  /** The position of the version that is valid just before a time; a deletion need not be kept. */
  private def valid(g: Group, bound: Long): Int = {
    var i = g.from(bound) - 1
    while (i >= 0 && g.items(i).value == null) i -= 1
    if (i >= 0 && g.items(i).isDeletion) i + 1 else math.max(i, 0)
  }
}

object GroupStore {
  /** The position of the rank within the number of a row. */
  val RankShift = 40

  /** The `ts` of a version that is a deletion. */
  val Deleted: Long = Long.MinValue

  /** The key of a row as users see it: with its window, if it has one. */
  def shownKey(d: StoreDef, keys: WindowKeys, key: UnsafeRow, i: Item): Array[Byte] = Rows.bytes(shown(d, keys, key, i))

  /** Like `shownKey`, valid until the next call. */
  def shown(d: StoreDef, keys: WindowKeys, key: UnsafeRow, i: Item): UnsafeRow = {
    val form = d.groups.get
    form.shape match {
      case Groups.Window =>
        keys(key, i.time, if (form.window == Groups.Forever) Long.MaxValue else i.time + form.window)
      case Groups.Session => keys(key, i.number, i.time)
      case _ => key
    }
  }
}
