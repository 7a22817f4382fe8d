package brookmere.kernel.state

import brookmere.kernel.rows.{Rows, WindowKeys}

import org.apache.spark.sql.brookmere.PythonValues

/** A row of a store as users see it: packed key, packed value, time. A version may be a deletion, without value. */
final case class StoreRow(key: Array[Byte], value: Array[Byte], ts: Long)

object StoreRow {
  def apply(e: Entry): StoreRow = StoreRow(e.key, e.value, e.ts)

  /** Rows of a store with several rows per key. */
  def of(d: StoreDef, items: Iterator[Item]): Seq[StoreRow] = {
    val keys = new WindowKeys(d.key)
    if (d.groups.exists(_.shape == Groups.Versions)) {
      items.map(i => StoreRow(i.group.key, if (i.isDeletion) null else i.value, i.time)).toSeq
    } else items.map { i =>
      StoreRow(GroupStore.shownKey(d, keys, Rows.of(i.group.key, d.key.fields), i), i.value, i.ts)
    }.toSeq
  }
}

/** Rows of a store for Python: pickled keys, pickled values, and the times. */
final class StoreRows(d: StoreDef, rows: Seq[StoreRow]) {
  def keys: Array[Byte] = PythonValues.pickle(rows.map(_.key), d.shownKey)
  def values: Array[Byte] = PythonValues.pickle(rows.map(_.value), d.value)
  def times: Array[Long] = rows.map(_.ts).toArray
}
