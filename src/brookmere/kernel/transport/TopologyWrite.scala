package brookmere.kernel.transport

import brookmere.kernel.core.{ErrorRow, RecordFailed}
import brookmere.kernel.ops.output.Murmur2
import brookmere.kernel.program.Outputs
import brookmere.kernel.rows._
import brookmere.kernel.topics.StagedSegment

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming._

/** What a writer must know of a topic. */
final case class OutputTopic(partitions: Int, compacted: Boolean, appendTime: Boolean, maxBytes: Int)

/** A topic that rejects records; the production handler decides what happens. */
final class TopicRefused(message: String, cause: Throwable = null) extends Exception(message, cause)

/** A record as its topic holds it. */
final case class Original(ts: Long, key: Array[Byte], value: Array[Byte], headers: Array[(Array[Byte], Array[Byte])])

/** A range of bytes; a negative length stands for null. */
final case class Span(base: AnyRef, offset: Long, length: Int)

/** Where one Spark task writes its part of a batch. */
trait Output {
  /** Throws TopicRefused, as `add` does. */
  def topic(name: String): OutputTopic
  def add(topic: String, partition: Int, ts: Long, key: Span, value: Span, headers: Array[(Array[Byte], Array[Byte])],
      row: UnsafeRow): Unit
  def original(topic: String, partition: Int, offset: Long): Option[Original]
  def commit(): Array[StagedSegment]
  def abort(): Unit
}

/** Creates outputs where the tasks run. */
trait OutputFactory extends Serializable { def output(partition: Int, epoch: Long): Output }

/** What a Spark task has written, and the rows that go to the driver. */
final case class Staged(segments: Array[StagedSegment], taps: Array[Array[Byte]], errors: Array[Array[Byte]])
    extends WriterCommitMessage

/** Writes the rows of a topology's last stage. */
abstract class TopologyWrite(name: String, plan: SinkPlan) extends StreamingWrite {
  protected def outputFactory: OutputFactory
  protected def commit(epoch: Long, segments: Seq[StagedSegment]): Unit
  protected def discard(segments: Seq[StagedSegment]): Unit

  override def createStreamingWriterFactory(info: PhysicalWriteInfo): StreamingDataWriterFactory = {
    val (p, o) = (plan, outputFactory)
    new StreamingDataWriterFactory {
      override def createWriter(partition: Int, task: Long, epoch: Long): DataWriter[InternalRow] =
        new TopologyWriter(p, o.output(partition, epoch))
    }
  }

  private def staged(messages: Array[WriterCommitMessage]): Seq[Staged] = messages.toSeq.collect { case s: Staged => s }

  override def commit(epoch: Long, messages: Array[WriterCommitMessage]): Unit = {
    val all = staged(messages)
    Sinks.listener(name).foreach { l =>
      val rows = all.flatMap(_.taps)
      if (rows.nonEmpty) l.tapped(packed(rows))
    }
    val errors = all.flatMap(_.errors)
    if (errors.nonEmpty) Sinks.failed(name, packed(errors))
    commit(epoch, all.flatMap(_.segments))
  }

  override def abort(epoch: Long, messages: Array[WriterCommitMessage]): Unit =
    discard(staged(messages).flatMap(_.segments))

  private def packed(rows: Seq[Array[Byte]]): Array[Byte] = {
    val sorted = rows.map { b => val r = new UnsafeRow(Layout.Fields); r.pointTo(b, b.length); r }.toArray
    java.util.Arrays.sort(sorted, Layout.order)
    val out = new Outputs(plan.to.routed)
    sorted.foreach(r => out.add(r, Slots.taskOf(plan.slots, r.getInt(Layout.Task))))
    out.result()
  }
}

/** Sorts the rows of a Spark partition into topics and partitions. */
final class TopologyWriter(plan: SinkPlan, output: Output) extends DataWriter[InternalRow] {
  private val taps = Array.newBuilder[Array[Byte]]
  private val errors = Array.newBuilder[Array[Byte]]
  private val pair = new UnsafeRow(2)
  private val packedHeaders = new UnsafeRow(1)
  private val error = new UnsafeRow(ErrorRow.schema.length)
  private val names: Array[String] = plan.to.names.map(n => if (n == null) null else new String(n, "UTF-8"))
  private val now = System.currentTimeMillis

  override def write(row: InternalRow): Unit = {
    val r = row.asInstanceOf[UnsafeRow]
    val node = r.getInt(Layout.Node)
    if (node == Layout.ErrorNode) failed(r, Rows.slice(r, Layout.Value, error))
    else if (plan.to.isTap(node)) taps += Rows.bytes(r)
    else if (plan.to.isRouted(node)) {
      val route = Rows.slice(r, Layout.Value, pair)
      produce(route.getUTF8String(0).toString, r, node, route, 1)
    } else produce(names(node), r, node, r, Layout.Value)
  }

  private def slice(r: UnsafeRow, field: Int): Span =
    if (r.isNullAt(field)) TopologyWriter.Null
    else {
      val at = r.getLong(field)
      Span(r.getBaseObject, r.getBaseOffset + (at >>> 32).toInt, at.toInt)
    }

  private def slice(bytes: Array[Byte]): Span =
    if (bytes == null) TopologyWriter.Null else Span(bytes, Rows.Base, bytes.length)

  private def produce(topic: String, r: UnsafeRow, node: Int, from: UnsafeRow, field: Int): Unit =
    try taken(topic, r, node, slice(r, Layout.Key), slice(from, field))
    catch { case e: TopicRefused => refused(r, node, if (e.getCause == null) e else e.getCause) }

  /** Throws TopicRefused. */
  private def taken(topic: String, r: UnsafeRow, node: Int, key: Span, value: Span): Unit = {
    val s = output.topic(topic)
    val bytes = math.max(key.length, 0).toLong + math.max(value.length, 0)
    if (bytes > s.maxBytes) {
      throw new TopicRefused("", new IllegalArgumentException(
        s"the record has $bytes bytes, and the topic '$topic' accepts ${s.maxBytes} (max.message.bytes)"))
    }
    if (key.length < 0 && s.compacted) {
      throw new TopicRefused("",
        new IllegalArgumentException(s"the topic '$topic' is compacted, and the record has no key"))
    }
    val partition =
      if (s.partitions == 1) 0
      else if (key.length < 0 || plan.to.byTask(node)) Slots.taskOf(plan.slots, r.getInt(Layout.Task)) % s.partitions
      else Murmur2.partition(key.base, key.offset, math.max(0, key.length - plan.to.windowBytes(node)), s.partitions)
    output.add(topic, partition, if (s.appendTime) now else r.getLong(Layout.Ts), key, value, headers(r), r)
  }

  private def headers(r: UnsafeRow): Array[(Array[Byte], Array[Byte])] = {
    val h = Rows.slice(r, Layout.Headers, packedHeaders)
    if (h == null) null
    else {
      val list = h.getArray(0)
      Array.tabulate(list.numElements()) { i =>
        val one = list.getStruct(i, 2)
        (if (one.isNullAt(0)) null else one.getUTF8String(0).getBytes, if (one.isNullAt(1)) null else one.getBinary(1))
      }
    }
  }

  /** Passes a record that its topic rejects to the production handler. */
  private def refused(r: UnsafeRow, node: Int, e: Throwable): Unit = {
    val source = r.getInt(Layout.Source)
    val f = new RecordFailed(RecordFailed.Production, plan.names(node), Slots.taskOf(plan.slots, r.getInt(Layout.Task)),
      Ticks.topicOf(source, plan.sources), Ticks.partitionOf(source), r.getLong(Layout.Seq), r.getLong(Layout.Ts),
      e.getClass.getName, e.getMessage, RecordFailed.trace(e), null, null)
    if (!plan.continueOn(RecordFailed.Production)) throw f
    val out = new RowBuffer
    val packed = ErrorRow.pack(f)
    out.begin(r.getInt(Layout.Task), r.getLong(Layout.Clock), source, r.getLong(Layout.Seq), r.getLong(Layout.Due),
      r.getLong(Layout.Step),
      Layout.ErrorNode, r.getLong(Layout.Ts), Rows.padded(packed.length))
    out.nullField(Layout.Key)
    out.field(Layout.Value, packed, Rows.Base, packed.length)
    out.nullField(Layout.Headers)
    val row = out.pull()
    failed(row, Rows.slice(row, Layout.Value, error))
  }

  private def failed(r: UnsafeRow, e: UnsafeRow): Unit = {
    errors += Rows.bytes(r)
    if (plan.deadLetter != null) {
      try deadLetter(r, e)
      catch { case x: TopicRefused => throw undelivered(e, if (x.getCause == null) x else x.getCause) }
    }
  }

  /** The application fails rather than lose a record that is kept nowhere. */
  private def undelivered(e: UnsafeRow, x: Throwable): RecordFailed =
    new RecordFailed(RecordFailed.Production, e.getUTF8String(1).toString, e.getInt(2), e.getUTF8String(3).toString,
      e.getInt(4), e.getLong(5), now, x.getClass.getName,
      s"the dead-letter topic '${plan.deadLetter}' rejects the record: ${x.getMessage}", RecordFailed.trace(x), null,
      null)

  /** The record as its source topic holds it, with the error in its headers. */
  private def deadLetter(r: UnsafeRow, e: UnsafeRow): Unit = {
    val topic = e.getUTF8String(3).toString
    val found = (if (topic == Ticks.Name) None else output.original(topic, e.getInt(4), e.getLong(5))).getOrElse {
      // Removed by compaction since, or caused by the clock alone: only what the failure knows is left.
      Original(r.getLong(Layout.Ts), if (e.isNullAt(9)) null else e.getBinary(9),
        if (e.isNullAt(10)) null else e.getBinary(10), null)
    }
    val more = DeadLetters.headers(e.getUTF8String(6).toString, e.getUTF8String(7).toString,
      e.getUTF8String(8).toString,
      topic, e.getInt(4), e.getLong(5))
    val s = output.topic(plan.deadLetter)
    val partition =
      if (found.key == null) e.getInt(4) % s.partitions
      else Murmur2.partition(found.key, Rows.Base, found.key.length, s.partitions)
    val own = if (found.headers == null) Array.empty[(Array[Byte], Array[Byte])] else found.headers
    output.add(plan.deadLetter, partition, if (s.appendTime) now else found.ts, slice(found.key), slice(found.value),
      own ++ more, r)
  }

  override def commit(): WriterCommitMessage = Staged(output.commit(), taps.result(), errors.result())
  override def abort(): Unit = output.abort()
  override def close(): Unit = ()
}

object TopologyWriter {
  private val Null = Span(null, 0L, -1)
}

/** The headers that Kafka Streams gives a dead letter. */
object DeadLetters {
  def headers(reason: String, message: String, trace: String, topic: String, partition: Int,
      offset: Long): Array[(Array[Byte], Array[Byte])] =
    Array("exception" -> reason, "message" -> message, "stacktrace" -> trace, "topic" -> topic,
      "partition" -> partition.toString, "offset" -> offset.toString)
      .map { case (k, v) => (s"__streams.errors.$k".getBytes("UTF-8"), v.getBytes("UTF-8")) }
}
