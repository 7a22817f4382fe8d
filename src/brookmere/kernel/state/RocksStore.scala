package brookmere.kernel.state

import java.util.Arrays

import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The store for large state: every row is a row of the backend. What a batch has read or written stays in the cache for
 * the next one, up to a limit.
 */
final class RocksStore(d: StoreDef, backend: Backend, task: Int, cache: EntryTable, maxBytes: Long)
    extends Store(d.name, d.key.fields, d.value.fields, cache) {
  private val rows = new StateRows(task)

  override def entry(key: UnsafeRow): Entry = {
    val hash = EntryTable.hash(key)
    var e = cache.find(key, hash)
    if (e == null) {
      e = newEntry(key, hash)
      val found = backend.get(name, rows.key(e.key))
      if (found != null) {
        e.ts = StateRows.timeOf(found)
        e.value = Rows.bytes(StateRows.valueOf(found, valueFields))
        cache.bytes += e.value.length
      }
    }
    e.used = batch
    e
  }

  override def find(key: UnsafeRow): Entry = {
    val e = entry(key)
    if (e.value == null) null else e
  }

  override def flush(): Unit = {
    sortDirty()
    var i = 0
    while (i < dirty.size) {
      val e = dirty.get(i)
      if (e.value == null) backend.remove(name, rows.key(e.key))
      else backend.put(name, rows.key(e.key), rows.value(e.value, e.ts))
      clean(e)
      i += 1
    }
    dirty.clear()
    // Old entries go first; a batch that is too large for the cache on its own leaves nothing behind.
    if (cache.bytes > maxBytes) cache.retain(_.used == batch)
    if (cache.bytes > maxBytes) cache.retain(_ => false)
  }

  override def settle(): Unit = flush()

  override def each(): Iterator[Entry] =
    backend.rows(name).filter(r => StateRows.taskOf(r._1) == task).map { case (k, v) =>
      val e = new Entry(Rows.bytes(StateRows.keyOf(k, keyFields)), 0)
      e.ts = StateRows.timeOf(v)
      e.value = Rows.bytes(StateRows.valueOf(v, valueFields))
      e
    }

  override def all(): Iterator[Entry] = {
    val found = each().toArray
    Arrays.sort(found, (a: Entry, b: Entry) => Arrays.compareUnsigned(a.key, b.key))
    found.iterator
  }
}
