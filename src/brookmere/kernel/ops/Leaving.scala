package brookmere.kernel.ops

import brookmere.kernel.core._
import brookmere.kernel.expr.Writer
import brookmere.kernel.rows.Change
import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Sends a record on to a processor of a later stage, within its task. */
final class ToStage(id: Int, name: String, target: Int, isTable: Boolean) extends Processor(id, name) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (isTable) task.sendBytes(task.number, target, key, Change.pack(value, old), ts)
    else task.send(task.number, target, key, value, ts)
}

/** Sends a record of a global table to every task of a later stage. */
final class ToEveryTask(id: Int, name: String, target: Int, tasks: Int) extends Processor(id, name) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    var i = 0
    while (i < tasks) { task.send(i, target, key, value, ts); i += 1 }
  }
}

/** Sends a record to the task that its key belongs to, by Kafka's own rule. */
final class Repartition(id: Int, name: String, target: Int, isTable: Boolean, partitions: Int, keyWriter: Writer)
    extends Processor(id, name) {
  @transient private var clock = 0L
  @transient private var source = 0
  @transient private var seq = 0L
  @transient private var due = Long.MinValue
  override def open(): Unit = keyWriter.open()

  /** Each task has a queue of its own, although the processor serves them all in turn. */
  override def attach(task: Task): Unit = { super.attach(task); due = Long.MinValue }

  /** The latest time among what the root record at hand has sent here: records do not overtake in a queue. */
  private def queued(ts: Long): Long = {
    if (!task.isAt(clock, source, seq)) { clock = task.clock; source = task.source; seq = task.seq; due = Long.MinValue }
    if (ts > due) due = ts
    due
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val to =
      if (partitions == 1) 0
      else if (key == null) 0
      else { keyWriter.write(key); Murmur2.partition(keyWriter.base, keyWriter.offset, keyWriter.size, partitions) }
    if (isTable) task.sendBytes(to, target, key, Change.pack(value, old), ts, queued(ts))
    else task.send(to, target, key, value, ts, queued(ts))
  }
}

/** Serialises key and value and sends them to the sink. */
final class Sink(id: Int, name: String, keyWriter: Writer, valueWriter: Writer) extends Processor(id, name) {
  override def open(): Unit = { keyWriter.open(); valueWriter.open() }
  override protected def failureKind: String = RecordFailed.Production

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    if (key != null) keyWriter.write(key)
    if (value != null) valueWriter.write(value)
    task.write(id, if (key == null) null else keyWriter, if (value == null) null else valueWriter, ts)
  }
}

/** As Sink, with a topic that is computed for each record and travels in front of the value. */
final class RoutingSink(id: Int, name: String, keyWriter: Writer, valueWriter: Writer, topic: brookmere.kernel.expr.Bound)
    extends Evaluating(id, name) {
  @transient private var route: brookmere.kernel.expr.Projection = _
  @transient private var writer: org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter = _
  override def open(): Unit = {
    super.open()
    keyWriter.open()
    valueWriter.open()
    route = topic.compile()
    writer = new org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter(2)
  }
  override protected def failureKind: String = RecordFailed.Production

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val to = route(record.set(key, value, ts))
    if (to == null) throw new BadBytes("the function that names the topic gave null")
    val v = valueWriter.bytes(value)
    writer.reset()
    writer.zeroOutNullBytes()
    writer.write(0, to.getUTF8String(0))
    if (v == null) writer.setNullAt(1) else writer.write(1, v)
    task.write(id, keyWriter.bytes(key), Rows.bytes(writer.getRow), ts)
  }
}

/** Shows records to a Python function on the driver: key and value leave as packed rows. */
final class Tap(id: Int, name: String) extends Processor(id, name) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    task.send(task.number, id, key, value, ts)
    forward(key, value, null, ts)
  }
}

/** Kafka's hash of a serialised key. */
object Murmur2 {
  import org.apache.spark.unsafe.Platform
  def partition(base: AnyRef, offset: Long, size: Int, partitions: Int): Int =
    (hash(base, offset, size) & 0x7fffffff) % partitions

  def hash(base: AnyRef, offset: Long, size: Int): Int = {
    val m = 0x5bd1e995
    var h = 0x9747b28c ^ size
    val words = size >> 2
    var i = 0
    while (i < words) {
      var k = Platform.getInt(base, offset + 4L * i)
      k *= m
      k ^= k >>> 24
      k *= m
      h *= m
      h ^= k
      i += 1
    }
    val tail = offset + 4L * words
    val left = size & 3
    if (left == 3) h ^= (Platform.getByte(base, tail + 2) & 0xff) << 16
    if (left >= 2) h ^= (Platform.getByte(base, tail + 1) & 0xff) << 8
    if (left >= 1) { h ^= Platform.getByte(base, tail) & 0xff; h *= m }
    h ^= h >>> 13
    h *= m
    h ^= h >>> 15
    h
  }
}
