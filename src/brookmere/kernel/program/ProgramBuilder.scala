package brookmere.kernel.program

import java.util.{List => JList}

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import brookmere.kernel.core._
import brookmere.kernel.expr._
import brookmere.kernel.ops.output.{Changelog, Repartition, RoutingSink, Sink, ToEveryTask, ToStage}
import brookmere.kernel.ops.stateless.PassThrough
import brookmere.kernel.ops.tables.HasSnapshot
import brookmere.kernel.ops.windows.WindowAggregate
import brookmere.kernel.python.stage.{PythonNode, PythonPart}
import brookmere.kernel.rows.Slots
import brookmere.kernel.state.{Store, StoreDef}

import org.apache.spark.sql.Column
import org.apache.spark.sql.brookmere.{Bind, PythonValues, Refused}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types._

/**
 * Builds a program node by node, in the order of the topology: parents come before children, and types flow from
 * parents to children. Python calls it through the Protocol in run/program_builder.py, which a test compares
 * with the public methods of this class.
 */
final class ProgramBuilder(
    private[program] val spark: SparkSession,
    stageCount: Int,
    tasks: Int,
    topics: JList[String])
    extends StreamNodes with TableNodes with WindowNodes with JoinNodes with LookupTables with PythonNodes {
  private[program] val made = mutable.LinkedHashMap[Int, Made]()
  private[program] val parentsOf = mutable.Map[Int, Seq[Int]]()
  private[program] val processors = Array.fill(stageCount)(ArrayBuffer[Processor]())
  private val entries = Array.fill(stageCount)(ArrayBuffer[Entrance]())
  private[program] val stores = Array.fill(stageCount)(ArrayBuffer[StoreDef]())
  private val sources = new Array[SourceReader](topics.size)
  private[program] val positions = mutable.Map[(Int, Int), Int]()
  private val slots = Slots(tasks)
  private var exchanges: Set[Int] = (1 until stageCount).toSet
  private[program] def chainOf(stage: Int): Int = exchanges.count(_ <= stage)
  private[program] val python = new Array[PythonPart](stageCount)

  /** Sets the stages before which rows are exchanged; by default all but the first. */
  def exchangeBefore(stages: JList[Integer]): Unit = exchanges = stages.asScala.map(_.intValue).toSet

  // ---- sources ----

  def reader(kind: String): Reader = Reader.of(kind)

  /** A reader that is an expression over the column `raw`. */
  def reader(decode: Column): Reader =
    new ExpressionReader(Bind(spark, Seq(Bind.plain("raw", BinaryType)), decode))

  /** The time of a source's records: that of the column `extract`, the wall clock, or else their own. */
  def sourceTime(key: Reader, value: Reader, extract: Column, isWall: Boolean, onInvalid: String): SourceTime =
    new SourceTime(SourceTime.extractor(spark, key, value, extract), isWall, onInvalid)

  def source(at: Place, spec: SourceSpec, key: Reader, value: Reader, time: SourceTime): Unit = {
    val p = new SourceReader(at.number, at.name, key, value, time, spec.isGlobal, spec.onBadRecord)
    spec.topics.asScala.foreach(n => sources(n) = p)
    add(at, p, key.result, value.result, isTable = false)
  }

  /** The source behind a repartition: it receives what the sinks `senders` send. */
  def internalSource(at: Place, senders: JList[Integer]): Unit = {
    val from = senders.asScala.map(s => made(s)).toSeq
    agree(from)
    add(at, new PassThrough(at.number, at.name), from.head.key, from.head.value, from.head.isTable)
    entries(at.stage) += entrance(at.number)
  }

  // ---- leaving a stage ----

  /** The writer of a built-in format for the key or value of a node; null if the format cannot write the type. */
  def writer(node: Int, isKey: Boolean, kind: String): Writer = Writer.of(kind, part(node, isKey))

  /** The writer of a key with its window, around a built-in format for the key alone; null as above. */
  def windowedWriter(node: Int, kind: String, session: Boolean): Writer =
    part(node, isKey = true).dataType match {
      case StructType(Array(k, _, _)) =>
        val inner = Writer.of(kind, RowType(k.dataType))
        if (inner == null) null else new WindowedWriter(inner, RowType(k.dataType), session)
      case _ => null
    }

  /** A writer that is an expression over the column `value`. */
  def writer(node: Int, isKey: Boolean, encode: Column): Writer =
    new ExpressionWriter(Bind(spark, Seq(Bind.row("value", part(node, isKey))), encode, Some(BinaryType)))

  /** A sink that writes to one topic, or to the one that the column `topic` names for each record. */
  def sink(at: Place, key: Writer, value: Writer, topic: Column): Unit = {
    val in = input(at)
    val p =
      if (topic == null) new Sink(at.number, at.name, key, value)
      else new RoutingSink(at.number, at.name, key, value, bind(in, topic, Some(StringType)))
    add(at, p, in.key, in.value, isTable = false)
  }

  /** A sink for what the node `of` drops: records as the node `input` sends them to it. */
  def lateSink(at: Place, of: Int, input: Int, key: Writer, value: Writer): Unit = {
    val p = new LateSink(at.number, at.name, key, value)
    add(at, p, made(input).key, made(input).value, isTable = false, Seq.empty)
    made(of).processor.late = p
  }

  /** A sink for every change of the table that the parents keep, in the order of the changes. */
  def changelog(at: Place, key: Writer, value: Writer, log: LogStart): Unit = {
    val in = input(at)
    val rows = made(at.parentNumbers.head).processor.asInstanceOf[HasSnapshot]
    val p = new Changelog(at.number, at.name, key, value, rows, log.since, log.isNew)
    val (sending, silent) = at.parentNumbers.partition(made(_).processor match {
      case w: WindowAggregate => w.sendsUpdates
      case _ => true
    })
    add(at, p, in.key, in.value, isTable = false, sending)
    silent.foreach(made(_).processor.asInstanceOf[WindowAggregate].log = p)
  }

  /** Sends records to the internal source `target`, by the partition of their key. */
  def repartition(at: Place, target: Int, partitions: Int, key: Writer): Unit = {
    val in = input(at)
    val task = taskField(at.parentNumbers.head)
    val p = new Repartition(at.number, at.name, target, in.isTable, partitions, key, task)
    add(at, p, in.key, in.value, in.isTable)
  }

  /** Lets the stream time of a node follow the wall clock once no record has arrived for `ms` milliseconds. */
  def closeIdle(number: Int, ms: Long): Unit = made(number).processor.asInstanceOf[Idle].closeIdle = ms

  // ---- results ----

  def isMade(number: Int): Boolean = made.contains(number)
  /** The JSON of the type of a column over the record that a node forwards. */
  def columnType(number: Int, column: Column): String = Bind.typeOf(spark, inputs(made(number)), column).json
  def keyType(number: Int): String = made(number).key.dataType.json
  def valueType(number: Int): String = made(number).value.dataType.json

  /** Python values of packed rows that a tap has seen. */
  def pickle(number: Int, isKey: Boolean, packed: JList[Array[Byte]]): Array[Byte] =
    PythonValues.pickle(packed.asScala, part(number, isKey))

  def build(continueOn: JList[String], lastPerBatch: Boolean, cacheBytes: Long, logBytes: Long): Program = {
    val limits = Store.Limits(cacheBytes, logBytes)
    val settings = new Settings(topics.asScala.toArray, continueOn.asScala.toSet, lastPerBatch, limits)
    val stages = Array.tabulate(stageCount) { n =>
      val read = if (n == 0) sources else Array.empty[SourceReader]
      new Stage(n, processors(n).toArray, entries(n).toArray, stores(n).toArray, read, exchanges(n), python(n))
    }
    new Program(stages, settings, slots, if (made.isEmpty) 0 else made.keys.max + 1)
  }

  // ---- inside ----

  private def part(node: Int, isKey: Boolean): RowType = if (isKey) made(node).key else made(node).value
  private[program] def inputs(in: Made): Seq[Bind.Input] =
    Seq(Bind.row("key", in.key), Bind.row("value", in.value), Bind.plain("timestamp", LongType))
  private[program] def bind(in: Made, c: Column, as: Option[DataType] = None): Bound =
    Bind(spark, inputs(in), c, as)

  private[program] def test(in: Made, c: Column): Bound = {
    val b = bind(in, c)
    if (b.result.dataType != BooleanType) throw new Refused("boolean", b.result.dataType.sql)
    b
  }

  private[program] def start(initial: Column, t: RowType): Bound =
    if (initial == null) null else Bind(spark, Seq.empty, initial, Some(t.dataType))

  /** The result of an aggregate that keeps more than that; null if it does not. */
  private[program] def show(result: Column, t: RowType): Bound =
    if (result == null) null else Bind(spark, Seq(Bind.row("aggregate", t)), result)

  private[program] def folding(in: Made, step: Column, t: RowType): Bound =
    Bind(spark, inputs(in) :+ Bind.row("aggregate", t), step, Some(t.dataType))

  /** The table whose changes come from the first of the parents; null if they are not changes. */
  private[program] def table(at: Place): View = made(at.parentNumbers.head) match {
    case m if m.isTable => m.processor match { case v: View => v; case _ => null }
    case _ => null
  }

  private[program] def input(at: Place): Made = {
    val from = at.parentNumbers.map(made)
    agree(from)
    from.head
  }

  private[program] def agree(from: Seq[Made]): Unit = from.tail.foreach { o =>
    def both(a: RowType, b: RowType): String = s"${a.dataType.sql}|${b.dataType.sql}"
    if (!o.key.same(from.head.key)) throw new Refused("key-types", both(from.head.key, o.key))
    if (!o.value.same(from.head.value)) throw new Refused("value-types", both(from.head.value, o.value))
  }

  private[program] def define(stage: Int, d: StoreDef): Unit = {
    // Stores compare keys by their bytes.
    if (!UnsafeRowUtils.isBinaryStable(d.key.dataType)) throw new Refused("collation", d.key.dataType.sql)
    record(stage, d)
  }

  private def record(stage: Int, d: StoreDef): Unit = stores(stage).find(_.name == d.name) match {
    case None => stores(stage) += d
    case Some(o) if o.key.same(d.key) && o.value.same(d.value) =>
    case Some(o) => throw new Refused("store-types", s"${o.value.dataType.sql}|${d.value.dataType.sql}")
  }

  private def entrance(id: Int): Entrance = {
    val m = made(id)
    new Entrance(id, m.processor, m.key.fields, m.value.fields, m.isTable)
  }

  private[program] def add(at: Place, p: Processor, key: RowType, value: RowType, isTable: Boolean): Unit =
    add(at, p, key, value, isTable, at.parentNumbers)

  private[program] def add(
      at: Place,
      p: Processor,
      key: RowType,
      value: RowType,
      isTable: Boolean,
      parents: Seq[Int]): Unit = {
    val (id, stage) = (at.number, at.stage)
    made(id) = new Made(stage, p, key, value, isTable)
    parentsOf(id) = parents
    processors(stage) += p
    parents.foreach { parent =>
      val from = made(parent)
      if (from.stage != stage || !isInWorker(from.processor, p)) {
        val child = if (from.stage == stage) p else crossing(from, id, p, stage)
        from.processor match { case n: PythonNode => n.leadsTo(id, child); case _ => }
        from.processor.children = from.processor.children :+ child
        positions((parent, id)) = from.processor.children.length - 1
      }
    }
  }

  /** An edge into a later stage: a processor that sends at one end, an entrance at the other. */
  private[program] def crossing(from: Made, id: Int, p: Processor, stage: Int): Processor = {
    if (!entries(stage).exists(_.node == id)) {
      entries(stage) += new Entrance(id, p, from.key.fields, from.value.fields, from.isTable)
    }
    val send = from.processor match {
      case s: SourceReader if s.broadcast => new ToEveryTask(ProgramBuilder.Unnumbered, p.name, id, tasks)
      case _ => new ToStage(ProgramBuilder.Unnumbered, p.name, id, from.isTable)
    }
    processors(from.stage) += send
    send
  }
}

/** A node of the program as its children need to know it. */
private[program] final class Made(
    val stage: Int, val processor: Processor, val key: RowType, val value: RowType, val isTable: Boolean)

object ProgramBuilder {
  private val Unnumbered = -2
}
