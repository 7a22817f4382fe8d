package brookmere.kernel.state

import java.util.Arrays

import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

/** The whole table of a log store and where its log stands. It may live on between batches. */
final class LogTable {
  val entries = new EntryTable
  var first = 0L
  var next = 0L
  var logBytes = 0L
  var loaded = false
  /** The store has outgrown memory: its rows stand in the state one by one. */
  var moved = false
}

/**
 * The store for state that fits in memory: all rows in a map, and in the backend a log with one
 * chunk of changed rows per batch, rewritten now and then. Cheaper than a row per key.
 */
final class LogStore(d: StoreDef, backend: Backend, task: Int, log: LogTable, maxBytes: Long)
    extends Store(d.name, d.key.fields, d.value.fields, log.entries) {
  private val family = Family.logName(d.name)
  private val rows = new StateRows(task)
  if (!log.loaded) load()

  override def entry(key: UnsafeRow): Entry = {
    val hash = EntryTable.hash(key)
    val e = table.find(key, hash)
    if (e != null) e else newEntry(key, hash)
  }

  override def flush(): Unit = if (!dirty.isEmpty) {
    val changed = dirty.toArray(new Array[Entry](0))
    dirty.clear()
    if (table.bytes > maxBytes) move()
    else {
      append(changed)
      changed.foreach { e =>
        clean(e)
        if (e.value == null) table.remove(e)
      }
      if (log.next - log.first > 1 && log.logBytes > LogStore.Growth * (table.bytes + LogStore.Small)) rewrite()
    }
    writeHead()
  }

  /** Writes every row by itself and gives the log up. The next batch opens the store as one of rows. */
  private def move(): Unit = {
    all().foreach(e => backend.put(d.name, rows.key(e.key), rows.value(e.value, e.ts)))
    dropChunks(log.first, log.next)
    log.first = log.next
    log.logBytes = 0
    log.moved = true
    table.retain(_ => false)
  }

  private def dropChunks(from: Long, until: Long): Unit = {
    var i = from
    while (i < until) { backend.remove(family, rows.key(chunkKey(i))); i += 1 }
  }

  override def all(): Iterator[Entry] = {
    val a = table.toArray.filter(_.value != null)
    Arrays.sort(a, (x: Entry, y: Entry) => Arrays.compareUnsigned(x.key, y.key))
    a.iterator
  }

  private def rewrite(): Unit = {
    val before = log.first
    val end = log.next
    log.first = end
    log.logBytes = 0
    append(table.toArray.filter(_.value != null))
    dropChunks(before, end)
  }

  /** One entry in a chunk: key size, value size (-1: no row), time, key, value. */
  private def append(entries: Array[Entry]): Unit = {
    var buffer = new Array[Byte](1 << 16)
    var p = 0
    def close(): Unit = if (p > 0) {
      backend.put(family, rows.key(chunkKey(log.next)), rows.value(Rows.single(buffer, Rows.Base, p), 0L))
      log.next += 1
      log.logBytes += p
      p = 0
    }
    entries.foreach { e =>
      val vn = if (e.value == null) 0 else e.value.length
      val need = p + 16 + e.key.length + vn
      if (need > buffer.length) buffer = Arrays.copyOf(buffer, math.max(need, buffer.length * 2))
      Platform.putInt(buffer, Rows.Base + p, e.key.length)
      Platform.putInt(buffer, Rows.Base + p + 4, if (e.value == null) -1 else vn)
      Platform.putLong(buffer, Rows.Base + p + 8, e.ts)
      System.arraycopy(e.key, 0, buffer, p + 16, e.key.length)
      p += 16 + e.key.length
      if (vn > 0) { System.arraycopy(e.value, 0, buffer, p, vn); p += vn }
      if (p > LogStore.ChunkBytes) close()
    }
    close()
  }

  private def load(): Unit = {
    val head = backend.get(family, rows.key(chunkKey(LogStore.Head)))
    if (head != null) {
      val h = StateRows.valueOf(head, 1).getBinary(0)
      log.first = Platform.getLong(h, Rows.Base)
      log.next = Platform.getLong(h, Rows.Base + 8)
      log.logBytes = Platform.getLong(h, Rows.Base + 16)
      log.moved = Platform.getLong(h, Rows.Base + 24) == 1L
      var i = log.first
      while (i < log.next) {
        LogStore.read(StateRows.valueOf(backend.get(family, rows.key(chunkKey(i))), 1).getBinary(0))(apply)
        i += 1
      }
    }
    log.loaded = true
  }

  private def apply(key: Array[Byte], value: Array[Byte], ts: Long): Unit = {
    val k = Rows.of(key, keyFields)
    val hash = EntryTable.hash(k)
    val found = table.find(k, hash)
    if (value == null) { if (found != null) { table.bytes -= found.value.length; table.remove(found) } }
    else {
      val e = if (found != null) found else newEntry(k, hash)
      table.bytes += value.length - (if (e.value == null) 0 else e.value.length)
      e.value = value
      e.ts = ts
    }
  }

  private def writeHead(): Unit = {
    val h = new Array[Byte](32)
    Platform.putLong(h, Rows.Base, log.first)
    Platform.putLong(h, Rows.Base + 8, log.next)
    Platform.putLong(h, Rows.Base + 16, log.logBytes)
    Platform.putLong(h, Rows.Base + 24, if (log.moved) 1L else 0L)
    backend.put(family, rows.key(chunkKey(LogStore.Head)), rows.value(Rows.single(h, Rows.Base, h.length), 0L))
  }

  private def chunkKey(i: Long): Array[Byte] = {
    val b = new Array[Byte](16)
    Platform.putLong(b, Rows.Base + 8, i)
    b
  }
}

object LogStore {
  val keySchema: StructType = new StructType().add("chunk", LongType)
  val valueSchema: StructType = new StructType().add("data", BinaryType)
  /** The chunk number of the head: first chunk, next chunk, bytes, whether the rows have moved. */
  private val Head = -1L
  private val ChunkBytes = 4 << 20
  /** The log is rewritten when it is this many times larger than what lives. */
  private val Growth = 2
  private val Small = 1 << 20

  /** Hands the entries of a chunk, in order, to `f`; a null value removes the key. */
  def read(chunk: Array[Byte])(f: (Array[Byte], Array[Byte], Long) => Unit): Unit = {
    var p = 0
    while (p < chunk.length) {
      val kn = Platform.getInt(chunk, Rows.Base + p)
      val vn = Platform.getInt(chunk, Rows.Base + p + 4)
      val ts = Platform.getLong(chunk, Rows.Base + p + 8)
      p += 16
      val key = Arrays.copyOfRange(chunk, p, p + kn)
      p += kn
      val value = if (vn < 0) null else Arrays.copyOfRange(chunk, p, p + vn)
      if (vn > 0) p += vn
      f(key, value, ts)
    }
  }
}
