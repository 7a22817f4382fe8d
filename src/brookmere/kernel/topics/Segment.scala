package brookmere.kernel.topics

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.channels.FileChannel
import java.nio.file.{Path, StandardOpenOption}
import java.util.zip.CRC32

import scala.jdk.CollectionConverters._

import org.apache.arrow.flatbuf.{Footer, Message, RecordBatch}
import org.apache.arrow.vector.types.{TimeUnit => ArrowTime}
import org.apache.arrow.vector.types.pojo.{ArrowType, Field, FieldType, Schema}

/** The columns of a segment, and where a record batch keeps their buffers. */
object SegmentSchema {
  private def field(name: String, kind: ArrowType, nullable: Boolean, children: Field*): Field =
    new Field(name, if (nullable) FieldType.nullable(kind) else FieldType.notNullable(kind), children.asJava)

  val schema: Schema = new Schema(Seq(
    field("delta", new ArrowType.Int(32, true), nullable = false),
    field("timestamp", new ArrowType.Timestamp(ArrowTime.MILLISECOND, "UTC"), nullable = false),
    field("key", ArrowType.Binary.INSTANCE, nullable = true),
    field("value", ArrowType.Binary.INSTANCE, nullable = true),
    field("headers", ArrowType.List.INSTANCE, nullable = true,
      field("item", ArrowType.Struct.INSTANCE, nullable = true,
        field("key", ArrowType.Utf8.INSTANCE, nullable = true),
        field("value", ArrowType.Binary.INSTANCE, nullable = true)))).asJava)

  val Magic: Array[Byte] = "ARROW1".getBytes("US-ASCII")

  // Buffers in the order in which a record batch lists them.
  val Delta = 1
  val Timestamp = 3
  val Key = 4
  val Value = 7
  val Headers = 10
  val HeaderKey = 13
  val HeaderValue = 16
  val Buffers = 19
}

/** A record batch of a segment, read in place. */
final class SegmentBatch(bytes: ByteBuffer, val rows: Int, at: Array[Int]) {
  import SegmentSchema._

  def delta(i: Int): Int = bytes.getInt(at(Delta) + 4 * i)
  def timestamp(i: Int): Long = bytes.getLong(at(Timestamp) + 8 * i)

  /** `column` is one of Key, Value, Headers, HeaderKey, HeaderValue: its validity, then its offsets. */
  def isNull(column: Int, i: Int): Boolean =
    at(column) >= 0 && (bytes.get(at(column) + (i >> 3)) & (1 << (i & 7))) == 0
  def from(column: Int, i: Int): Int = bytes.getInt(at(column + 1) + 4 * i)
  def length(column: Int, i: Int): Int = from(column, i + 1) - from(column, i)
  def position(column: Int, i: Int): Int = at(column + 2) + from(column, i)
  def source: ByteBuffer = bytes

  def copy(column: Int, i: Int): Array[Byte] =
    if (isNull(column, i)) null
    else {
      val a = new Array[Byte](length(column, i))
      if (a.length > 0) bytes.get(position(column, i), a)
      a
    }

  /** The headers of a record, names and values; null if there are none. */
  def headers(i: Int): Array[(Array[Byte], Array[Byte])] =
    if (isNull(Headers, i) || length(Headers, i) == 0) null
    else Array.range(from(Headers, i), from(Headers, i + 1)).map(j => (copy(HeaderKey, j), copy(HeaderValue, j)))

  /** The first row whose delta is at least `delta`. */
  def find(delta: Long): Int = {
    var low = 0
    var high = rows
    while (low < high) {
      val middle = (low + high) >>> 1
      if (this.delta(middle) < delta) low = middle + 1 else high = middle
    }
    low
  }
}

/** A segment file, mapped into memory. It never changes, so an open one stays valid. */
final class Segment(val batches: Array[SegmentBatch])

object Segment {
  /** A segment that differs from what the manifest says. */
  final class Damaged(message: String) extends java.io.IOException(message)

  private val Kept = 64
  private val open = new java.util.LinkedHashMap[String, Segment](16, 0.75f, true) {
    override def removeEldestEntry(e: java.util.Map.Entry[String, Segment]): Boolean = size > Kept
  }

  /** Opens a segment and checks it once; names are unique, so the name identifies it. */
  def open(path: Path, size: Long, crc: Long): Segment = {
    val name = path.toString
    val known = open.synchronized(open.get(name))
    if (known != null) return known
    val s = read(path, size, crc)
    open.synchronized { open.put(name, s); s }
  }

  private def read(path: Path, size: Long, crc: Long): Segment = {
    val bytes = map(path)
    if (bytes.limit() != size) throw new Damaged(s"it has ${bytes.limit()} bytes instead of $size")
    val sum = new CRC32
    sum.update(bytes.duplicate())
    if (sum.getValue != crc) throw new Damaged("its bytes have changed since it was written")
    parse(bytes)
  }

  /** Opens a segment that is not in a manifest yet. */
  def staged(path: Path): Segment = parse(map(path))

  private def map(path: Path): ByteBuffer = {
    val channel = FileChannel.open(path, StandardOpenOption.READ)
    try channel.map(FileChannel.MapMode.READ_ONLY, 0L, channel.size).order(ByteOrder.LITTLE_ENDIAN)
    finally channel.close()
  }

  private def parse(bytes: ByteBuffer): Segment = {
    val end = bytes.limit() - SegmentSchema.Magic.length - 4
    val length = bytes.getInt(end)
    val footer = Footer.getRootAsFooter(part(bytes, end - length, length))
    new Segment(Array.tabulate(footer.recordBatchesLength) { i =>
      val block = footer.recordBatches(i)
      val start = block.offset.toInt
      // A message begins with a continuation mark and its length.
      val message = Message.getRootAsMessage(part(bytes, start + 8, block.metaDataLength - 8))
      val batch = message.header(new RecordBatch).asInstanceOf[RecordBatch]
      val body = start + block.metaDataLength
      val at = Array.tabulate(SegmentSchema.Buffers) { n =>
        val b = batch.buffers(n)
        if (b.length == 0) -1 else body + b.offset.toInt
      }
      new SegmentBatch(bytes, batch.length.toInt, at)
    })
  }

  private def part(bytes: ByteBuffer, from: Int, length: Int): ByteBuffer =
    bytes.duplicate().position(from).limit(from + length).slice().order(ByteOrder.LITTLE_ENDIAN)
}
