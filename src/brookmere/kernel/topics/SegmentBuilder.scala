package brookmere.kernel.topics

import java.nio.{ByteBuffer, ByteOrder}
import java.nio.channels.{FileChannel, WritableByteChannel}
import java.nio.file.{Files, Path, StandardCopyOption, StandardOpenOption}
import java.util.{ArrayList, Arrays}
import java.util.zip.CRC32

import brookmere.kernel.rows.Rows

import com.google.flatbuffers.FlatBufferBuilder
import org.apache.arrow.flatbuf.{Buffer, FieldNode, MessageHeader, RecordBatch}
import org.apache.arrow.vector.ipc.WriteChannel
import org.apache.arrow.vector.ipc.message.{ArrowBlock, ArrowFooter, MessageSerializer}
import org.apache.spark.unsafe.Platform

/** A segment file that is written but not in the manifest yet. */
final case class NewSegment(partition: Int, file: String, rows: Int, bytes: Long, crc: Long, min: Long, max: Long)

/** Collects the records of a partition, and writes them as a segment in any order of rows. */
final class SegmentBuilder {
  import SegmentBuilder._

  private var data = new Array[Byte](1 << 12)
  private var used = 0
  private var times = new Array[Long](64)
  /** Where the bytes of a row begin: its key, then its value. */
  private var starts = new Array[Int](64)
  private var keys = new Array[Int](64)
  private var values = new Array[Int](64)
  private var headers: Array[Array[(Array[Byte], Array[Byte])]] = null
  private var count = 0

  def rows: Int = count

  /** Adds a record; a length of -1 stands for null. */
  def add(ts: Long, keyBase: AnyRef, keyAt: Long, keyLength: Int, valueBase: AnyRef, valueAt: Long, valueLength: Int,
      more: Array[(Array[Byte], Array[Byte])]): Unit = {
    begin(ts, keyLength, valueLength, more)
    if (keyLength > 0) Platform.copyMemory(keyBase, keyAt, data, Rows.Base + starts(count), keyLength)
    if (valueLength > 0) {
      Platform.copyMemory(valueBase, valueAt, data, Rows.Base + starts(count) + math.max(keyLength, 0), valueLength)
    }
    count += 1
  }

  def add(ts: Long, key: Array[Byte], value: Array[Byte], more: Array[(Array[Byte], Array[Byte])]): Unit =
    add(ts, key, Rows.Base, if (key == null) -1 else key.length, value, Rows.Base,
      if (value == null) -1 else value.length, more)

  /** Adds a row of a segment. */
  def add(from: SegmentBatch, i: Int): Unit = {
    val k = if (from.isNull(SegmentSchema.Key, i)) -1 else from.length(SegmentSchema.Key, i)
    val v = if (from.isNull(SegmentSchema.Value, i)) -1 else from.length(SegmentSchema.Value, i)
    begin(from.timestamp(i), k, v, from.headers(i))
    if (k > 0) from.source.get(from.position(SegmentSchema.Key, i), data, starts(count), k)
    if (v > 0) from.source.get(from.position(SegmentSchema.Value, i), data, starts(count) + math.max(k, 0), v)
    count += 1
  }

  private def begin(ts: Long, keyLength: Int, valueLength: Int, more: Array[(Array[Byte], Array[Byte])]): Unit = {
    if (count == times.length) {
      times = Arrays.copyOf(times, count * 2)
      starts = Arrays.copyOf(starts, count * 2)
      keys = Arrays.copyOf(keys, count * 2)
      values = Arrays.copyOf(values, count * 2)
      if (headers != null) headers = Arrays.copyOf(headers, count * 2)
    }
    val need = used.toLong + math.max(keyLength, 0) + math.max(valueLength, 0)
    if (need > MaxBytes) {
      throw new IllegalStateException(
        s"one batch writes more than $MaxBytes bytes into a partition; make batches smaller with max.batch.records")
    }
    if (need > data.length) data = Arrays.copyOf(data, math.min(math.max(need, data.length * 2L), MaxBytes).toInt)
    times(count) = ts
    starts(count) = used
    keys(count) = keyLength
    values(count) = valueLength
    if (more != null && headers == null) headers = new Array[Array[(Array[Byte], Array[Byte])]](times.length)
    if (headers != null) headers(count) = more
    used = need.toInt
  }

  /** Writes the rows in the order of `places` (null: as they were added), and returns what a manifest needs. */
  def write(directory: Path, partition: Int, places: Array[Int]): NewSegment = {
    val name = s"$partition-${java.util.UUID.randomUUID.toString.replace("-", "")}.arrow"
    val temporary = directory.resolve(name + ".tmp")
    try {
      val file = FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)
      val summed = new Summed(file)
      try {
        writeTo(new WriteChannel(summed), places)
        file.force(true)
      } finally file.close()
      Files.move(temporary, directory.resolve(name), StandardCopyOption.ATOMIC_MOVE)
      var low = Long.MaxValue
      var high = Long.MinValue
      var i = 0
      while (i < count) { low = math.min(low, times(i)); high = math.max(high, times(i)); i += 1 }
      NewSegment(partition, name, count, summed.written, summed.sum.getValue, low, high)
    } finally Files.deleteIfExists(temporary)
  }

  private def writeTo(out: WriteChannel, places: Array[Int]): Unit = {
    out.write(SegmentSchema.Magic)
    out.align()
    MessageSerializer.serialize(out, SegmentSchema.schema)
    val blocks = new ArrayList[ArrowBlock]()
    var from = 0
    while (from < count) {
      val to = endOfBatch(from, places)
      blocks.add(writeBatch(out, from, to, places))
      from = to
    }
    out.writeIntLittleEndian(-1)
    out.writeIntLittleEndian(0)
    val start = out.getCurrentPosition
    out.write(new ArrowFooter(SegmentSchema.schema, new ArrayList[ArrowBlock](), blocks), false)
    out.writeIntLittleEndian((out.getCurrentPosition - start).toInt)
    out.write(SegmentSchema.Magic)
  }

  private def row(i: Int, places: Array[Int]): Int = if (places == null) i else places(i)

  private def endOfBatch(from: Int, places: Array[Int]): Int = {
    var to = from
    var size = 0L
    while (to < count && to - from < MaxRows && (to == from || size < BatchBytes)) {
      val r = row(to, places)
      size += math.max(keys(r), 0) + math.max(values(r), 0)
      to += 1
    }
    to
  }

  private def writeBatch(out: WriteChannel, from: Int, to: Int, places: Array[Int]): ArrowBlock = {
    val n = to - from
    val body = new Body(estimate(from, to, places))
    body.fixed(n, 4)((b, i) => b.putInt(from + i))
    body.fixed(n, 8)((b, i) => b.putLong(times(row(from + i, places))))
    column(body, n, i => keys(row(from + i, places)), i => starts(row(from + i, places)))
    column(body, n, i => values(row(from + i, places)), i => {
      val r = row(from + i, places)
      starts(r) + math.max(keys(r), 0)
    })
    headerColumns(body, n, i => if (headers == null) null else headers(row(from + i, places)))
    val start = out.getCurrentPosition
    val message = body.message(n)
    val metadata = MessageSerializer.writeMessageBuffer(out, message.remaining, message)
    out.write(body.bytes)
    new ArrowBlock(start, metadata, body.length)
  }

  private def estimate(from: Int, to: Int, places: Array[Int]): Int = {
    var size = 1L << 10
    var i = from
    while (i < to) { val r = row(i, places); size += math.max(keys(r), 0) + math.max(values(r), 0) + 24; i += 1 }
    math.min(size, MaxBytes).toInt
  }

  private def column(body: Body, n: Int, length: Int => Int, start: Int => Int): Unit = {
    body.node(n, body.validity(n)(i => length(i) >= 0))
    body.offsets(n)(i => math.max(length(i), 0))
    body.begin()
    var i = 0
    while (i < n) { val l = length(i); if (l > 0) body.append(data, start(i), l); i += 1 }
    body.end()
  }

  private def headerColumns(body: Body, n: Int, of: Int => Array[(Array[Byte], Array[Byte])]): Unit = {
    body.node(n, body.validity(n)(i => of(i) != null))
    body.offsets(n)(i => if (of(i) == null) 0 else of(i).length)
    val all = (0 until n).iterator.map(of).filter(_ != null).flatMap(_.iterator).toArray
    body.node(all.length, body.validity(all.length)(_ => true))
    def bytes(of: Int => Array[Byte]): Unit = {
      body.node(all.length, body.validity(all.length)(i => of(i) != null))
      body.offsets(all.length)(i => if (of(i) == null) 0 else of(i).length)
      body.begin()
      all.indices.foreach(i => if (of(i) != null) body.append(of(i), 0, of(i).length))
      body.end()
    }
    bytes(all(_)._1)
    bytes(all(_)._2)
  }
}

object SegmentBuilder {
  private val MaxRows = 65536
  private val BatchBytes = 16L << 20
  private val MaxBytes = Int.MaxValue - (64L << 20)

  /** The body of a record batch: one buffer after the other, each at a multiple of eight. */
  private final class Body(size: Int) {
    private var buffer = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN)
    private val places = new ArrayList[(Long, Long)]()
    private val nodes = new ArrayList[(Long, Long)]()
    private var start = 0

    def length: Long = buffer.position()
    def bytes: ByteBuffer = buffer.duplicate().flip()
    def node(rows: Int, nulls: Int): Unit = nodes.add((rows, nulls))

    private def room(n: Int): Unit =
      if (buffer.remaining < n) {
        val needed = math.max(buffer.capacity * 2L, buffer.position() + n.toLong)
        val larger = ByteBuffer.allocate(math.min(needed, Int.MaxValue - 16L).toInt)
        buffer = larger.order(ByteOrder.LITTLE_ENDIAN).put(buffer.flip())
      }
    def begin(): Unit = start = buffer.position()
    def append(from: Array[Byte], at: Int, n: Int): Unit = { room(n); buffer.put(from, at, n) }
    def end(): Unit = {
      places.add((start, buffer.position() - start))
      val padding = (8 - (buffer.position() & 7)) & 7
      room(padding)
      var i = 0
      while (i < padding) { buffer.put(0: Byte); i += 1 }
    }

    /** A column that is never null, `width` bytes per row; `put` writes the next one. */
    def fixed(n: Int, width: Int)(put: (ByteBuffer, Int) => Unit): Unit = {
      node(n, 0)
      absent()
      begin()
      room(width * n)
      var i = 0
      while (i < n) { put(buffer, i); i += 1 }
      end()
    }

    def offsets(n: Int)(length: Int => Int): Unit = {
      begin()
      room(4 * (n + 1))
      var sum = 0
      buffer.putInt(0)
      var i = 0
      while (i < n) { sum += length(i); buffer.putInt(sum); i += 1 }
      end()
    }

    /** Writes which rows are not null, nothing if all are, and returns the number of nulls. */
    def validity(n: Int)(valid: Int => Boolean): Int = {
      var nulls = 0
      var i = 0
      while (i < n) { if (!valid(i)) nulls += 1; i += 1 }
      if (nulls == 0) absent()
      else {
        begin()
        val bits = new Array[Byte]((n + 7) >> 3)
        i = 0
        while (i < n) { if (valid(i)) bits(i >> 3) = (bits(i >> 3) | (1 << (i & 7))).toByte; i += 1 }
        append(bits, 0, bits.length)
        end()
      }
      nulls
    }

    private def absent(): Unit = places.add((buffer.position(), 0L))

    def message(rows: Int): ByteBuffer = {
      val b = new FlatBufferBuilder(1024)
      RecordBatch.startNodesVector(b, nodes.size)
      (nodes.size - 1 to 0 by -1).foreach { i => val (n, nulls) = nodes.get(i); FieldNode.createFieldNode(b, n, nulls) }
      val nodesAt = b.endVector()
      RecordBatch.startBuffersVector(b, places.size)
      (places.size - 1 to 0 by -1).foreach { i => val (at, n) = places.get(i); Buffer.createBuffer(b, at, n) }
      val buffersAt = b.endVector()
      RecordBatch.startRecordBatch(b)
      RecordBatch.addLength(b, rows)
      RecordBatch.addNodes(b, nodesAt)
      RecordBatch.addBuffers(b, buffersAt)
      MessageSerializer.serializeMessage(b, MessageHeader.RecordBatch, RecordBatch.endRecordBatch(b), length)
    }
  }

  /** Computes the checksum of what is written to a file. */
  private final class Summed(to: FileChannel) extends WritableByteChannel {
    val sum = new CRC32
    var written = 0L
    override def write(from: ByteBuffer): Int = {
      val all = from.remaining
      sum.update(from.duplicate())
      while (from.hasRemaining) to.write(from)
      written += all
      all
    }
    override def isOpen: Boolean = to.isOpen
    override def close(): Unit = to.close()
  }
}
