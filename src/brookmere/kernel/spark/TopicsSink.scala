package brookmere.topics

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedDeque}

import scala.jdk.CollectionConverters._

import brookmere.kernel.core.{ErrorRow, RecordFailed}
import brookmere.kernel.ops.Murmur2
import brookmere.kernel.program.{Outputs, Program}
import brookmere.kernel.rows._
import brookmere.kernel.topics._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming._
import org.apache.spark.sql.internal.connector.SupportsStreamingUpdateAsAppend
import org.apache.spark.sql.types._
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/** Where a topology writes: the topics of its sinks, and what to do about what cannot be written. */
final class SinkPlan(
    val directory: String,
    val application: String,
    val to: Destinations,
    val slots: Array[Int],
    val sources: Array[String],
    val continueOn: Set[String],
    val names: Array[String],
    val deadLetter: String,
    val newPartitions: Int) extends Serializable

/** Receives, before a batch is committed, what its taps saw: the bytes are those of `Outputs`. */
trait TapListener { def tapped(rows: Array[Byte]): Unit }

/** Plans by the name under which a query finds its own; Python puts them here before it starts the query. */
object Sinks {
  private val plans = new ConcurrentHashMap[String, SinkPlan]()
  private val listeners = new ConcurrentHashMap[String, TapListener]()
  private val failures = new ConcurrentHashMap[String, ConcurrentLinkedDeque[Array[Byte]]]()
  private val Kept = 1000

  def register(name: String, directory: String, application: String, to: Destinations, program: Program,
      names: java.util.List[String], deadLetter: String, newPartitions: Int): Unit =
    plans.put(name, new SinkPlan(directory, application, to, program.slots, program.settings.topics, program.settings.continueOn,
      names.asScala.toArray, deadLetter, newPartitions))
  def listen(name: String, to: TapListener): Unit = listeners.put(name, to)
  def plan(name: String): SinkPlan = plans.get(name)
  def listener(name: String): Option[TapListener] = Option(listeners.get(name))
  def forget(name: String): Unit = { plans.remove(name); listeners.remove(name); failures.remove(name) }

  private[topics] def failed(name: String, rows: Array[Byte]): Unit = {
    val list = failures.computeIfAbsent(name, _ => new ConcurrentLinkedDeque[Array[Byte]]())
    list.add(rows)
    while (list.size > Kept) list.poll()
  }

  /** Failures since the last call, as bytes of `Outputs`: the oldest are gone where there were very many. */
  def takeFailures(name: String): Array[Byte] = {
    val list = failures.get(name)
    if (list == null) Array.emptyByteArray
    else Iterator.continually(list.poll()).takeWhile(_ != null).foldLeft(new java.io.ByteArrayOutputStream) { (o, b) => o.write(b); o }.toByteArray
  }
}

object TopicsWrite {
  def builder(info: LogicalWriteInfo): WriteBuilder = new WriteBuilder with SupportsTruncate with SupportsStreamingUpdateAsAppend {
    override def truncate(): WriteBuilder = throw new UnsupportedOperationException("topics cannot be written in complete mode")
    override def build(): Write = new Write {
      override def description(): String = "embedded topics"
      override def toStreaming: StreamingWrite = {
        val name = info.options.get("plan")
        if (name != null) new TopologyWrite(name, Sinks.plan(name), info.queryId)
        else new FrameWrite(info.options, info.schema, info.queryId)
      }
    }
  }
}

/** What a Spark task has written, and the rows that are for the driver. */
final case class Staged(segments: Array[StagedSegment], taps: Array[Array[Byte]], errors: Array[Array[Byte]]) extends WriterCommitMessage

/** Writes the rows of a topology's last stage. */
final class TopologyWrite(name: String, plan: SinkPlan, query: String) extends StreamingWrite {
  override def createStreamingWriterFactory(info: PhysicalWriteInfo): StreamingDataWriterFactory = {
    val p = plan
    new StreamingDataWriterFactory {
      override def createWriter(partition: Int, task: Long, epoch: Long): DataWriter[InternalRow] = new TopologyWriter(p)
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
    Staging.commit(plan.directory, all.flatMap(_.segments), BatchWriter(plan.application, query, epoch))
  }

  override def abort(epoch: Long, messages: Array[WriterCommitMessage]): Unit =
    Staging.discard(plan.directory, staged(messages).flatMap(_.segments))

  private def packed(rows: Seq[Array[Byte]]): Array[Byte] = {
    val sorted = rows.map { b => val r = new UnsafeRow(Layout.Fields); r.pointTo(b, b.length); r }.toArray
    java.util.Arrays.sort(sorted, Layout.order)
    val out = new Outputs(plan.to.routed)
    sorted.foreach(r => out.add(r, Slots.taskOf(plan.slots, r.getInt(Layout.Task))))
    out.result()
  }
}

/** Sorts the rows of a Spark partition into topics and partitions. */
final class TopologyWriter(plan: SinkPlan) extends DataWriter[InternalRow] {
  private val staging = new Staging(plan.directory)
  private val taps = Array.newBuilder[Array[Byte]]
  private val errors = Array.newBuilder[Array[Byte]]
  private val pair = new UnsafeRow(2)
  private val packedHeaders = new UnsafeRow(1)
  private val error = new UnsafeRow(ErrorRow.schema.length)
  private val names: Array[String] = plan.to.names.map(n => if (n == null) null else new String(n, "UTF-8"))
  private val known = new java.util.HashMap[String, TopicSettings]()
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

  private def settings(topic: String): TopicSettings = {
    var s = known.get(topic)
    if (s == null) {
      if (!TopicLog.exists(plan.directory, topic)) TopicLog.create(plan.directory, topic, plan.newPartitions)
      s = staging.log(topic).settings
      known.put(topic, s)
    }
    s
  }

  private def produce(topic: String, r: UnsafeRow, node: Int, from: UnsafeRow, field: Int): Unit = {
    val s = try settings(topic) catch { case e: TopicLog.TopicException => return refused(r, node, e) }
    val keyAt = if (r.isNullAt(Layout.Key)) -1L else r.getLong(Layout.Key)
    val valueAt = if (from.isNullAt(field)) -1L else from.getLong(field)
    val keyLength = if (keyAt < 0) -1 else keyAt.toInt
    val valueLength = if (valueAt < 0) -1 else valueAt.toInt
    if (math.max(keyLength, 0).toLong + math.max(valueLength, 0) > s.maxBytes) {
      return refused(r, node, new IllegalArgumentException(
        s"the record has ${math.max(keyLength, 0) + math.max(valueLength, 0)} bytes, and the topic '$topic' takes ${s.maxBytes} (max.message.bytes)"))
    }
    if (keyLength < 0 && s.compacted) {
      return refused(r, node, new IllegalArgumentException(s"the topic '$topic' is compacted, and the record has no key"))
    }
    val keyOffset = r.getBaseOffset + (keyAt >>> 32).toInt
    val partition =
      if (s.partitions == 1) 0
      else if (keyLength < 0 || plan.to.byTask(node)) Slots.taskOf(plan.slots, r.getInt(Layout.Task)) % s.partitions
      else Murmur2.partition(r.getBaseObject, keyOffset, math.max(0, keyLength - plan.to.windowBytes(node)), s.partitions)
    val ts = if (s.appendTime) now else r.getLong(Layout.Ts)
    staging.records(topic, partition).add(ts, r.getBaseObject, keyOffset, keyLength,
      from.getBaseObject, from.getBaseOffset + (valueAt >>> 32).toInt, valueLength, headers(r))
    place(topic, partition, r)
  }

  private def place(topic: String, partition: Int, r: UnsafeRow): Unit =
    staging.places(topic, partition).add(r.getLong(Layout.Clock), r.getInt(Layout.Source), r.getLong(Layout.Seq), r.getLong(Layout.Due), r.getLong(Layout.Step))

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

  /** A record that its topic does not take goes to the production handler. */
  private def refused(r: UnsafeRow, node: Int, e: Exception): Unit = {
    val source = r.getInt(Layout.Source)
    val f = new RecordFailed(RecordFailed.Production, plan.names(node), Slots.taskOf(plan.slots, r.getInt(Layout.Task)),
      Ticks.topicOf(source, plan.sources), Ticks.partitionOf(source), r.getLong(Layout.Seq), r.getLong(Layout.Ts),
      e.getClass.getName, e.getMessage, RecordFailed.trace(e), null, null)
    if (!plan.continueOn(RecordFailed.Production)) throw f
    val out = new RowBuffer
    val packed = ErrorRow.pack(f)
    out.begin(r.getInt(Layout.Task), r.getLong(Layout.Clock), source, r.getLong(Layout.Seq), r.getLong(Layout.Due), r.getLong(Layout.Step),
      Layout.ErrorNode, r.getLong(Layout.Ts), Rows.padded(packed.length))
    out.nullField(Layout.Key)
    out.field(Layout.Value, packed, Rows.Base, packed.length)
    out.nullField(Layout.Headers)
    val row = out.pull()
    failed(row, Rows.slice(row, Layout.Value, error))
  }

  private def failed(r: UnsafeRow, e: UnsafeRow): Unit = {
    errors += Rows.bytes(r)
    if (plan.deadLetter != null) deadLetter(r, e)
  }

  /** The record as its source topic holds it, with what went wrong in its headers. */
  private def deadLetter(r: UnsafeRow, e: UnsafeRow): Unit = {
    val topic = e.getUTF8String(3).toString
    val found = if (topic == Ticks.Name) None else TopicLog(plan.directory, topic).record(e.getInt(4), e.getLong(5))
    val (ts, key, value, own) = found match {
      case Some((b, i)) => (b.timestamp(i), b.copy(SegmentSchema.Key, i), b.copy(SegmentSchema.Value, i), b.headers(i))
      case None =>
        // Compacted away in the meantime, or caused by the clock alone: what the failure itself knows is left.
        (r.getLong(Layout.Ts), if (e.isNullAt(9)) null else e.getBinary(9), if (e.isNullAt(10)) null else e.getBinary(10), null)
    }
    val more = DeadLetters.headers(e.getUTF8String(6).toString, e.getUTF8String(7).toString, e.getUTF8String(8).toString,
      e.getUTF8String(3).toString, e.getInt(4), e.getLong(5))
    val s = settings(plan.deadLetter)
    val partition = if (key == null) e.getInt(4) % s.partitions else Murmur2.partition(key, Rows.Base, key.length, s.partitions)
    staging.records(plan.deadLetter, partition).add(if (s.appendTime) now else ts, key, value, (if (own == null) Array.empty[(Array[Byte], Array[Byte])] else own) ++ more)
    place(plan.deadLetter, partition, r)
  }

  override def commit(): WriterCommitMessage = Staged(staging.write(), taps.result(), errors.result())
  override def abort(): Unit = ()
  override def close(): Unit = ()
}

/** Kafka Streams' headers of a dead letter. */
object DeadLetters {
  def headers(reason: String, message: String, trace: String, topic: String, partition: Int, offset: Long): Array[(Array[Byte], Array[Byte])] =
    Array("exception" -> reason, "message" -> message, "stacktrace" -> trace, "topic" -> topic, "partition" -> partition.toString, "offset" -> offset.toString)
      .map { case (k, v) => (s"__streams.errors.$k".getBytes("UTF-8"), v.getBytes("UTF-8")) }
}

/** Writes an ordinary streaming DataFrame: key and value, and where there are such columns topic, partition, timestamp, headers. */
final class FrameWrite(options: CaseInsensitiveStringMap, schema: StructType, query: String) extends StreamingWrite {
  private val directory = options.get("dir")
  private val topic = options.get("topic")
  private val application = options.getOrDefault("application", query)

  override def createStreamingWriterFactory(info: PhysicalWriteInfo): StreamingDataWriterFactory = {
    val (d, t, s) = (directory, topic, schema)
    new StreamingDataWriterFactory {
      override def createWriter(partition: Int, task: Long, epoch: Long): DataWriter[InternalRow] = new FrameWriter(d, t, s, partition)
    }
  }
  override def commit(epoch: Long, messages: Array[WriterCommitMessage]): Unit =
    Staging.commit(directory, messages.toSeq.collect { case s: Staged => s }.flatMap(_.segments), BatchWriter(application, query, epoch))
  override def abort(epoch: Long, messages: Array[WriterCommitMessage]): Unit =
    Staging.discard(directory, messages.toSeq.collect { case s: Staged => s }.flatMap(_.segments))
}

final class FrameWriter(directory: String, topic: String, schema: StructType, spark: Int) extends DataWriter[InternalRow] {
  private val staging = new Staging(directory)
  private def column(name: String, kinds: DataType*): Int = {
    val i = schema.fieldNames.indexOf(name)
    if (i >= 0 && !kinds.contains(schema(i).dataType)) {
      throw new IllegalArgumentException(s"the column '$name' is ${schema(i).dataType.simpleString}; cast it to ${kinds.map(_.simpleString).mkString(" or ")}")
    }
    i
  }
  private val key = column("key", BinaryType, StringType)
  private val value = column("value", BinaryType, StringType)
  private val time = column("timestamp", TimestampType, LongType)
  private val named = column("topic", StringType)
  private val partition = column("partition", IntegerType)
  private val headers = schema.fieldNames.indexOf("headers")
  private val micros = time >= 0 && schema(time).dataType == TimestampType
  private val now = System.currentTimeMillis

  private def bytes(r: InternalRow, i: Int): Array[Byte] =
    if (i < 0 || r.isNullAt(i)) null else if (schema(i).dataType == StringType) r.getUTF8String(i).getBytes else r.getBinary(i)

  override def write(r: InternalRow): Unit = {
    val to = if (named >= 0 && !r.isNullAt(named)) r.getUTF8String(named).toString else topic
    if (to == null) throw new IllegalArgumentException("no topic was named: give the option 'topic' or a column 'topic'")
    val s = staging.log(to).settings
    val k = bytes(r, key)
    val p =
      if (partition >= 0 && !r.isNullAt(partition)) r.getInt(partition)
      else if (k == null) spark % s.partitions
      else Murmur2.partition(k, Rows.Base, k.length, s.partitions)
    val ts = if (s.appendTime || time < 0 || r.isNullAt(time)) now else if (micros) Math.floorDiv(r.getLong(time), 1000L) else r.getLong(time)
    val more =
      if (headers < 0 || r.isNullAt(headers)) null
      else { val a = r.getArray(headers); Array.tabulate(a.numElements) { i => val h = a.getStruct(i, 2); (h.getUTF8String(0).getBytes, if (h.isNullAt(1)) null else h.getBinary(1)) } }
    staging.records(to, p).add(ts, k, bytes(r, value), more)
  }
  override def commit(): WriterCommitMessage = Staged(staging.write(), Array.empty, Array.empty)
  override def abort(): Unit = ()
  override def close(): Unit = ()
}
