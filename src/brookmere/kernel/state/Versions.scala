package brookmere.kernel.state

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The rows of a versioned table: the row of each key at each time, as far back as `history` reaches. */
final class Versions(store: GroupStore, history: Long) {
  import Versions._
  val fields: Int = store.valueFields
  private val row = new UnsafeRow(fields)
  private val nothing: UnsafeRow = {
    val r = new UnsafeRow(store.valueFields)
    val n = UnsafeRow.calculateBitSetWidthInBytes(store.valueFields) + 8 * store.valueFields
    r.pointTo(new Array[Byte](n), n)
    (0 until store.valueFields).foreach(i => r.setNullAt(i))
    r
  }

  /** Adds or replaces the version of a time; null is a deletion. The bytes of a replaced version stay unchanged. */
  def put(key: UnsafeRow, value: UnsafeRow, time: Long): Int =
    if (time < store.clock.time - history) Refused
    else {
      val item = keep(key, value, time)
      if (item.group.last eq item) Latest else Past
    }

  /** Like `put`, however old the time is. */
  def keep(key: UnsafeRow, value: UnsafeRow, time: Long): Item = {
    val g = store.group(key)
    val found = store.item(g, time, 0L)
    val item = if (found == null) store.add(g, time, 0L) else found
    if (value == null) store.put(item, nothing, GroupStore.Deleted, keep = true)
    else store.put(item, value, time, keep = true)
    item
  }

  /** The latest version of a key, or null if there is none or it was deleted. */
  def latest(key: UnsafeRow): Item = {
    val g = store.find(key)
    if (g == null) null else shown(g.last)
  }

  /** The version that was valid at a time, or null. The latest one is found however old it is. */
  def at(key: UnsafeRow, time: Long): Item = {
    val g = store.find(key)
    if (g == null) null
    else if (time < store.clock.time - history) {
      val i = shown(g.last)
      if (i == null || i.time > time) null else i
    } else {
      var i = g.size - 1
      while (i >= 0 && (g(i).time > time || g(i).value == null)) i -= 1
      if (i < 0) null else shown(g(i))
    }
  }

  /** The value as a row, valid until the next call. */
  def value(i: Item): UnsafeRow = { row.pointTo(i.value, i.value.length); row }

  def key(i: Item): UnsafeRow = store.key(i.group)

  /** All versions, including deletions, those of a key in the order of time. */
  def all(): Iterator[Item] = store.rows()

  private def shown(i: Item): Item = if (i == null || i.isDeletion) null else i
}

object Versions {
  /** Too old: nothing was changed. */
  val Refused = 0
  /** The key has a later version. */
  val Past = 1
  val Latest = 2
}
