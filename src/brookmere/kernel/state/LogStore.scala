package brookmere.kernel.state

import java.util.Arrays

import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** The whole table of a log store, and the position of its log. */
final class LogTable extends LogPlace {
  val entries = new EntryTable
}

/**
 * The store for state that fits in memory: all rows in a map, and in the backend a log with one chunk of changed rows
 * per batch, rewritten from time to time. Cheaper than a row per key.
 */
final class LogStore(d: StoreDef, backend: Backend, task: Int, table: LogTable, maxBytes: Long)
    extends Store(d.name, d.key.fields, d.value.fields, table.entries) {
  private val log = new ChunkLog(d.name, backend, task, table)
  private val rows = new StateRows(task)
  log.load(LogStore.read(_)(apply))

  override def entry(key: UnsafeRow): Entry = {
    val hash = EntryTable.hash(key)
    val e = entries.find(key, hash)
    if (e != null) e else newEntry(key, hash)
  }

  override def find(key: UnsafeRow): Entry = {
    val e = entries.find(key, EntryTable.hash(key))
    if (e == null || e.value == null) null else e
  }

  override def flush(): Unit = if (!dirty.isEmpty) {
    val changed = dirty.toArray(new Array[Entry](0))
    dirty.clear()
    if (entries.bytes > maxBytes) move()
    else {
      append(changed)
      changed.foreach { e =>
        clean(e)
        if (e.value == null) entries.remove(e)
      }
      if (log.isLong(entries.bytes)) log.rewrite(append(entries.toArray.filter(_.value != null)))
    }
    log.writeHead()
  }

  /** Writes every row by itself and abandons the log. From the next batch on the store has single rows. */
  private def move(): Unit = {
    all().foreach(e => backend.put(d.name, rows.key(e.key), rows.value(e.value, e.ts)))
    log.moveAway()
    entries.retain(_ => false)
  }

  override def each(): Iterator[Entry] = entries.toArray.iterator.filter(_.value != null)

  override def all(): Iterator[Entry] = {
    val a = entries.toArray.filter(_.value != null)
    Arrays.sort(a, (x: Entry, y: Entry) => Arrays.compareUnsigned(x.key, y.key))
    a.iterator
  }

  /** One entry in a chunk: key size, value size (-1: no row), time, key, value. */
  private def append(changed: Array[Entry]): Unit = {
    changed.foreach { e =>
      log.int(e.key.length)
      log.int(if (e.value == null) -1 else e.value.length)
      log.long(e.ts)
      log.data(e.key)
      if (e.value != null) log.data(e.value)
      log.endEntry()
    }
    log.close()
  }

  private def apply(key: Array[Byte], value: Array[Byte], ts: Long): Unit = {
    val k = Rows.of(key, keyFields)
    val hash = EntryTable.hash(k)
    val found = entries.find(k, hash)
    if (value == null) { if (found != null) { entries.bytes -= found.value.length; entries.remove(found) } }
    else {
      val e = if (found != null) found else newEntry(k, hash)
      entries.bytes += value.length - (if (e.value == null) 0 else e.value.length)
      e.value = value
      e.ts = ts
    }
  }
}

object LogStore {
  /** Passes the entries of a chunk, in order, to `f`; a null value removes the key. */
  def read(chunk: Array[Byte])(f: (Array[Byte], Array[Byte], Long) => Unit): Unit = {
    val c = new ChunkLog.Cursor(chunk)
    while (c.hasNext) {
      val kn = c.int()
      val vn = c.int()
      val ts = c.long()
      f(c.data(kn), c.data(vn), ts)
    }
  }
}
