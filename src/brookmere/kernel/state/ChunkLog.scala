package brookmere.kernel.state

import java.util.Arrays

import brookmere.kernel.rows.Rows

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

/** The position of a log. It may be kept between batches, with what was read from the log. */
class LogPlace {
  var first = 0L
  var next = 0L
  var bytes = 0L
  var loaded = false
  /** The store has outgrown memory: its rows are in the state one by one. */
  var moved = false
}

/** A log in the state: chunks with ascending numbers, and a head that says which of them are valid. */
final class ChunkLog(store: String, backend: Backend, task: Int, val place: LogPlace) {
  import ChunkLog._
  private val family = Family.logName(store)
  private val rows = new StateRows(task)
  private var buffer = new Array[Byte](1 << 12)
  private var p = 0

  /** Makes room for `n` more bytes and returns where they begin. */
  private def room(n: Int): Int = {
    if (p + n > buffer.length) buffer = Arrays.copyOf(buffer, math.max(p + n, buffer.length * 2))
    val at = p
    p += n
    at
  }
  def int(v: Int): Unit = { val at = room(4); Platform.putInt(buffer, Rows.Base + at, v) }
  def long(v: Long): Unit = { val at = room(8); Platform.putLong(buffer, Rows.Base + at, v) }
  def data(a: Array[Byte]): Unit = { val at = room(a.length); System.arraycopy(a, 0, buffer, at, a.length) }

  /** Called after each entry: writes a chunk that is large enough. */
  def endEntry(): Unit = if (p > ChunkBytes) close()

  /** Writes what has been put so far as a chunk. */
  def close(): Unit = if (p > 0) {
    backend.put(family, rows.key(chunkKey(place.next)), rows.value(Rows.single(buffer, Rows.Base, p), 0L))
    place.next += 1
    place.bytes += p
    p = 0
  }

  /** True if the log is much larger than `live` bytes and should be rewritten. */
  def isLong(live: Long): Boolean = place.next - place.first > 1 && place.bytes > Growth * (live + Small)

  /** Replaces the log by what `write` puts into it. */
  def rewrite(write: => Unit): Unit = {
    val before = place.first
    val end = place.next
    place.first = end
    place.bytes = 0
    write
    close()
    drop(before, end)
  }

  /** Abandons the log: its rows are elsewhere now. */
  def moveAway(): Unit = {
    drop(place.first, place.next)
    place.first = place.next
    place.bytes = 0
    place.moved = true
  }

  private def drop(from: Long, until: Long): Unit = {
    var i = from
    while (i < until) { backend.remove(family, rows.key(chunkKey(i))); i += 1 }
  }

  /** Passes every chunk to `read`, in order, once. */
  def load(read: Array[Byte] => Unit): Unit = if (!place.loaded) {
    val head = backend.get(family, rows.key(chunkKey(Head)))
    if (head != null) {
      val h = StateRows.valueOf(head, 1).getBinary(0)
      place.first = Platform.getLong(h, Rows.Base)
      place.next = Platform.getLong(h, Rows.Base + 8)
      place.bytes = Platform.getLong(h, Rows.Base + 16)
      place.moved = Platform.getLong(h, Rows.Base + 24) == 1L
      var i = place.first
      while (i < place.next) {
        read(StateRows.valueOf(backend.get(family, rows.key(chunkKey(i))), 1).getBinary(0))
        i += 1
      }
    }
    place.loaded = true
  }

  def writeHead(): Unit = {
    val h = new Array[Byte](32)
    Platform.putLong(h, Rows.Base, place.first)
    Platform.putLong(h, Rows.Base + 8, place.next)
    Platform.putLong(h, Rows.Base + 16, place.bytes)
    Platform.putLong(h, Rows.Base + 24, if (place.moved) 1L else 0L)
    backend.put(family, rows.key(chunkKey(Head)), rows.value(Rows.single(h, Rows.Base, h.length), 0L))
  }

  private def chunkKey(i: Long): Array[Byte] = {
    val b = new Array[Byte](16)
    Platform.putLong(b, Rows.Base + 8, i)
    b
  }
}

object ChunkLog {
  val keySchema: StructType = new StructType().add("chunk", LongType)
  val valueSchema: StructType = new StructType().add("data", BinaryType)
  /** The chunk number of the head: first chunk, next chunk, bytes, whether the rows have moved. */
  private val Head = -1L
  private val ChunkBytes = 4 << 20
  /** The log is rewritten when it is this many times larger than its live entries. */
  private val Growth = 2
  private val Small = 1 << 20

  /** Reads a chunk from its beginning. */
  final class Cursor(chunk: Array[Byte]) {
    private var p = 0
    def hasNext: Boolean = p < chunk.length
    def int(): Int = { val v = Platform.getInt(chunk, Rows.Base + p); p += 4; v }
    def long(): Long = { val v = Platform.getLong(chunk, Rows.Base + p); p += 8; v }
    def data(n: Int): Array[Byte] = if (n < 0) null else { p += n; Arrays.copyOfRange(chunk, p - n, p) }
  }
}
