package brookmere.kernel.program

import java.util.{List => JList}

import scala.collection.mutable
import scala.collection.mutable.ArrayBuffer
import scala.jdk.CollectionConverters._

import brookmere.kernel.core._
import brookmere.kernel.expr._
import brookmere.kernel.ops
import brookmere.kernel.python.stage.{PythonNode, PythonPart}
import brookmere.kernel.rows.Slots
import brookmere.kernel.state.{Store, StoreDef}

import org.apache.spark.sql.Column
import org.apache.spark.sql.brookmere.{Bind, Refused}
import org.apache.spark.sql.catalyst.util.UnsafeRowUtils
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types._

/**
 * Builds a program node by node, in the order of the topology. Python calls it: nodes are known
 * by number, parents come before children, types flow from parents to children.
 */
final class ProgramBuilder(private[program] val spark: SparkSession, stageCount: Int, tasks: Int, topics: JList[String])
    extends JoinNodes with WindowNodes with TimeNodes with PythonNodes {
  private[program] val made = mutable.LinkedHashMap[Int, Made]()
  private[program] val parentsOf = mutable.Map[Int, Seq[Int]]()
  private[program] val processors = Array.fill(stageCount)(ArrayBuffer[Processor]())
  private val entries = Array.fill(stageCount)(ArrayBuffer[Entrance]())
  private[program] val stores = Array.fill(stageCount)(ArrayBuffer[StoreDef]())
  private val sources = new Array[SourceReader](topics.size)
  private val positions = mutable.Map[(Int, Int), Int]()
  private val slots = Slots(tasks)
  private var exchanges: Set[Int] = (1 until stageCount).toSet
  private[program] def chainOf(stage: Int): Int = exchanges.count(_ <= stage)
  private[program] val python = new Array[PythonPart](stageCount)

  /** The stages that an exchange stands in front of, where that is not every one but the first. */
  def exchangeBefore(stages: JList[Integer]): Unit = exchanges = stages.asScala.map(_.intValue).toSet

  // ---- sources ----

  def reader(kind: String): Reader = Reader.of(kind)

  /** A reader that is an expression over the column `raw`. */
  def reader(decode: Column): Reader =
    new ExpressionReader(Bind(spark, Seq(Bind.plain("raw", BinaryType)), decode))

  def source(id: Int, name: String, numbers: JList[Integer], key: Reader, value: Reader, time: SourceTime, isGlobal: Boolean,
      handler: String): Unit = {
    val p = new SourceReader(id, name, key, value, time, isGlobal, handler)
    numbers.asScala.foreach(n => sources(n) = p)
    add(id, 0, p, key.result, value.result, isTable = false, Seq.empty)
  }

  /** The source of a repartition: it gets what the given sinks send. */
  def internalSource(id: Int, name: String, stage: Int, sinks: JList[Integer]): Unit = {
    val from = sinks.asScala.map(s => made(s)).toSeq
    agree(name, from)
    val p = new ops.stateless.PassThrough(id, name)
    add(id, stage, p, from.head.key, from.head.value, from.head.isTable, Seq.empty)
    entries(stage) += entrance(id)
  }

  // ---- stream operators ----

  def filter(id: Int, name: String, stage: Int, parents: JList[Integer], predicate: Column, negate: Boolean): Unit = {
    val in = input(name, parents)
    add(id, stage, new ops.stateless.Filter(id, name, test(in, predicate), negate), in.key, in.value, isTable = false, ids(parents))
  }

  def project(id: Int, name: String, stage: Int, parents: JList[Integer], key: Column, value: Column): Unit = {
    val in = input(name, parents)
    val k = if (key == null) null else bind(in, key)
    val v = if (value == null) null else bind(in, value)
    add(id, stage, new ops.stateless.Project(id, name, k, v), if (k == null) in.key else k.result, if (v == null) in.value else v.result,
      isTable = false, ids(parents))
  }

  def flatMapValues(id: Int, name: String, stage: Int, parents: JList[Integer], array: Column): Unit = {
    val in = input(name, parents)
    val b = bind(in, Bind.withoutExplode(array))
    b.result.dataType match {
      case ArrayType(e, _) => add(id, stage, new ops.stateless.FlatMapValues(id, name, b, RowType(e)), in.key, RowType(e), isTable = false, ids(parents))
      case other => throw new Refused("array", other.sql)
    }
  }

  def flatMap(id: Int, name: String, stage: Int, parents: JList[Integer], array: Column): Unit = {
    val in = input(name, parents)
    val b = bind(in, Bind.withoutExplode(array))
    b.result.dataType match {
      case ArrayType(StructType(Array(k, v)), _) =>
        add(id, stage, new ops.stateless.FlatMap(id, name, b, RowType(k.dataType), RowType(v.dataType)), RowType(k.dataType), RowType(v.dataType),
          isTable = false, ids(parents))
      case other => throw new Refused("pairs", other.sql)
    }
  }

  def branch(id: Int, name: String, stage: Int, parents: JList[Integer], hasDefault: Boolean): Unit = {
    val in = input(name, parents)
    add(id, stage, new ops.stateless.Branch(id, name, hasDefault), in.key, in.value, isTable = false, ids(parents))
  }

  /** Adds a predicate to a branch, behind those it has. */
  def branchTest(branch: Int, predicate: Column): Unit = {
    val b = made(branch).processor.asInstanceOf[ops.stateless.Branch]
    b.predicates = b.predicates :+ test(made(branch), predicate)
  }

  /** Says which child of a branch gets the records of predicate `position`. */
  def branchTarget(branch: Int, position: Int, child: Int): Unit =
    made(branch).processor.asInstanceOf[ops.stateless.Branch].target(position, positions((branch, child)))

  def passThrough(id: Int, name: String, stage: Int, parents: JList[Integer]): Unit = {
    val in = input(name, parents)
    add(id, stage, new ops.stateless.PassThrough(id, name, table(parents)), in.key, in.value, in.isTable, ids(parents))
  }

  def keyNotNull(id: Int, name: String, stage: Int, parents: JList[Integer]): Unit = {
    val in = input(name, parents)
    add(id, stage, new ops.stateless.KeyNotNull(id, name), in.key, in.value, in.isTable, ids(parents))
  }

  def tap(id: Int, name: String, stage: Int, parents: JList[Integer]): Unit = {
    val in = input(name, parents)
    add(id, stage, new ops.output.Tap(id, name), in.key, in.value, isTable = false, ids(parents))
  }

  // ---- aggregates and tables ----

  /** Finds the type of an aggregate: what holds the initial value and the result of every step. */
  def aggregateType(initial: Column, parents: JList[Integer], steps: JList[Column]): String = {
    val ins = parents.asScala.map(p => made(p)).toSeq
    var t: DataType = if (initial == null) ins.head.value.dataType else RowType(Bind.typeOf(spark, Seq.empty, initial)).dataType
    var changed = true
    var round = 0
    while (changed && round < ProgramBuilder.Rounds) {
      changed = false
      round += 1
      ins.zip(steps.asScala).foreach { case (in, step) =>
        val r = RowType(Bind.typeOf(spark, inputs(in) :+ Bind.row("aggregate", RowType(t)), step)).dataType
        val merged = TypeMerge(t, r)
        if (merged == null) throw new Refused("aggregate-type", s"${t.sql}|${r.sql}")
        if (merged != t) { t = merged; changed = true }
      }
    }
    if (TypeMerge.open(t)) throw new Refused("aggregate-open", t.sql)
    t.json
  }

  def aggregate(id: Int, name: String, stage: Int, parents: JList[Integer], store: String, kind: String,
      initial: Column, step: Column, typeJson: String, result: Column, sendOld: Boolean, merges: Boolean): Unit = {
    val in = input(name, parents)
    val t = RowType(DataType.fromJson(typeJson))
    define(stage, StoreDef(store, kind, in.key, t))
    val shown = show(result, t)
    val p = new ops.aggregates.Aggregate(id, name, store, start(initial, t), fold(in, step, t), shown, sendOld, merges)
    add(id, stage, p, in.key, if (shown == null) t else shown.result, isTable = true, ids(parents))
  }

  /** Folds records for the aggregate `of` before they travel to it; the aggregate then merges what arrives. */
  def combine(id: Int, of: Int, name: String, stage: Int, parents: JList[Integer], initial: Column, step: Column, typeJson: String): Unit = {
    val in = input(name, parents)
    val t = RowType(DataType.fromJson(typeJson))
    val p = new ops.aggregates.Combine(of, name, start(initial, t), fold(in, step, t), in.key.fields, t.fields)
    add(id, stage, p, in.key, t, isTable = false, ids(parents))
  }

  def tableAggregate(id: Int, name: String, stage: Int, parents: JList[Integer], store: String, kind: String,
      initial: Column, adder: Column, subtractor: Column, typeJson: String, result: Column, sendOld: Boolean): Unit = {
    val in = input(name, parents)
    val t = RowType(DataType.fromJson(typeJson))
    define(stage, StoreDef(store, kind, in.key, t))
    val shown = show(result, t)
    val p = new ops.aggregates.TableAggregate(id, name, store, start(initial, t), fold(in, adder, t), fold(in, subtractor, t), shown, sendOld)
    add(id, stage, p, in.key, if (shown == null) t else shown.result, isTable = true, ids(parents))
  }

  def tableSource(id: Int, name: String, stage: Int, parents: JList[Integer], store: String, kind: String, sendOld: Boolean): Unit = {
    val in = input(name, parents)
    if (store != null) define(stage, StoreDef(store, kind, in.key, in.value))
    add(id, stage, new ops.tables.TableSource(id, name, store, sendOld), in.key, in.value, isTable = true, ids(parents))
  }

  def tableFilter(id: Int, name: String, stage: Int, parents: JList[Integer], predicate: Column, negate: Boolean,
      store: String, kind: String, sendOld: Boolean, versioned: Boolean): Unit = {
    val in = input(name, parents)
    if (store != null) define(stage, StoreDef(store, kind, in.key, in.value))
    val p = new ops.tables.TableFilter(id, name, test(in, predicate), negate, store, sendOld, versioned, table(parents))
    add(id, stage, p, in.key, in.value, isTable = true, ids(parents))
  }

  def tableMapValues(id: Int, name: String, stage: Int, parents: JList[Integer], value: Column, store: String, kind: String,
      sendOld: Boolean, seesNull: Boolean): Unit = {
    val in = input(name, parents)
    val v = bind(in, value)
    if (store != null) define(stage, StoreDef(store, kind, in.key, v.result))
    val p = new ops.tables.TableMapValues(id, name, v, store, sendOld, seesNull, table(parents))
    add(id, stage, p, in.key, v.result, isTable = true, ids(parents))
  }

  def tableToStream(id: Int, name: String, stage: Int, parents: JList[Integer]): Unit = {
    val in = input(name, parents)
    add(id, stage, new ops.tables.TableToStream(id, name), in.key, in.value, isTable = false, ids(parents))
  }

  def tableGroup(id: Int, name: String, stage: Int, parents: JList[Integer], key: Column, value: Column, versioned: Boolean): Unit = {
    val in = input(name, parents)
    val k = bind(in, key)
    val v = bind(in, value)
    add(id, stage, new ops.aggregates.TableGroup(id, name, k, v, versioned), k.result, v.result, isTable = true, ids(parents))
  }

  // ---- leaving a stage ----

  /** The writer of a built-in wire format for the key or value of a node, or null. */
  def writer(node: Int, isKey: Boolean, kind: String): Writer = Writer.of(kind, part(node, isKey))

  /** The writer of a key with its window, around a built-in format for the key alone; null if the key does not fit. */
  def windowedWriter(node: Int, kind: String, session: Boolean): Writer = part(node, isKey = true).dataType match {
    case StructType(Array(k, _, _)) =>
      val inner = Writer.of(kind, RowType(k.dataType))
      if (inner == null) null else new WindowedWriter(inner, RowType(k.dataType), session)
    case _ => null
  }

  /** A writer that is an expression over the column `value`. */
  def writer(node: Int, isKey: Boolean, encode: Column): Writer =
    new ExpressionWriter(Bind(spark, Seq(Bind.row("value", part(node, isKey))), encode, Some(BinaryType)))

  def sink(id: Int, name: String, stage: Int, parents: JList[Integer], key: Writer, value: Writer, topic: Column): Unit = {
    val in = input(name, parents)
    val p =
      if (topic == null) new ops.output.Sink(id, name, key, value)
      else new ops.output.RoutingSink(id, name, key, value, bind(in, topic, Some(StringType)))
    add(id, stage, p, in.key, in.value, isTable = false, ids(parents))
  }

  /**
   * A sink for every change of the table that the parents keep, in the order of the changes. `since` stands for the
   * time since when there are such sinks; `isNew` if the table may have rows that are older.
   */
  def changelog(id: Int, name: String, stage: Int, parents: JList[Integer], key: Writer, value: Writer, since: Long, isNew: Boolean): Unit = {
    val in = input(name, parents)
    val p = new ops.output.Changelog(id, name, key, value, made(parents.get(0)).processor.asInstanceOf[ops.tables.HasSnapshot], since, isNew)
    val (sending, silent) = ids(parents).partition(made(_).processor match { case w: ops.windows.WindowAggregate => w.sendsUpdates; case _ => true })
    add(id, stage, p, in.key, in.value, isTable = false, sending)
    silent.foreach(made(_).processor.asInstanceOf[ops.windows.WindowAggregate].log = p)
  }

  def repartition(id: Int, name: String, stage: Int, parents: JList[Integer], target: Int, partitions: Int, key: Writer): Unit = {
    val in = input(name, parents)
    add(id, stage, new ops.output.Repartition(id, name, target, in.isTable, partitions, key, taskField(ids(parents).head)), in.key, in.value, in.isTable, ids(parents))
  }

  // ---- results ----

  def isMade(id: Int): Boolean = made.contains(id)
  /** The type of a column over the record that a node forwards. */
  def columnType(id: Int, c: Column): String = Bind.typeOf(spark, inputs(made(id)), c).json
  def keyType(id: Int): String = made(id).key.dataType.json
  def valueType(id: Int): String = made(id).value.dataType.json

  /** Python values of packed rows that came out of a tap. */
  def pickle(id: Int, isKey: Boolean, packed: JList[Array[Byte]]): Array[Byte] =
    org.apache.spark.sql.brookmere.PythonValues.pickle(packed.asScala, part(id, isKey))

  def build(continueOn: JList[String], lastPerBatch: Boolean, cacheBytes: Long, logBytes: Long): Program = {
    val limits = Store.Limits(cacheBytes, logBytes)
    val settings = new Settings(topics.asScala.toArray, continueOn.asScala.toSet, lastPerBatch, limits)
    val stages = Array.tabulate(stageCount) { n =>
      new Stage(n, processors(n).toArray, entries(n).toArray, stores(n).toArray, if (n == 0) sources else Array.empty,
        exchanges(n), python(n))
    }
    new Program(stages, settings, slots, if (made.isEmpty) 0 else made.keys.max + 1)
  }

  // ---- inside ----

  private[program] def ids(parents: JList[Integer]): Seq[Int] = parents.asScala.map(_.intValue).toSeq
  private def part(node: Int, isKey: Boolean): RowType = if (isKey) made(node).key else made(node).value
  private[program] def inputs(in: Made): Seq[Bind.Input] =
    Seq(Bind.row("key", in.key), Bind.row("value", in.value), Bind.plain("timestamp", LongType))
  private[program] def bind(in: Made, c: Column, as: Option[DataType] = None): Bound = Bind(spark, inputs(in), c, as)

  private[program] def test(in: Made, c: Column): Bound = {
    val b = bind(in, c)
    if (b.result.dataType != BooleanType) throw new Refused("boolean", b.result.dataType.sql)
    b
  }

  private[program] def start(initial: Column, t: RowType): Bound =
    if (initial == null) null else Bind(spark, Seq.empty, initial, Some(t.dataType))

  /** What is shown of an aggregate that keeps more than its result. */
  private[program] def show(result: Column, t: RowType): Bound =
    if (result == null) null else Bind(spark, Seq(Bind.row("aggregate", t)), result)

  private[program] def fold(in: Made, step: Column, t: RowType): Bound =
    Bind(spark, inputs(in) :+ Bind.row("aggregate", t), step, Some(t.dataType))

  /** The table whose updates come from the first of the parents, if they are updates. */
  private def table(parents: JList[Integer]): View = made(parents.get(0)) match {
    case m if m.isTable => m.processor match { case v: View => v; case _ => null }
    case _ => null
  }

  private[program] def input(name: String, parents: JList[Integer]): Made = {
    val from = ids(parents).map(made)
    agree(name, from)
    from.head
  }

  private[program] def agree(name: String, from: Seq[Made]): Unit = from.tail.foreach { o =>
    if (!o.key.same(from.head.key)) throw new Refused("key-types", s"${from.head.key.dataType.sql}|${o.key.dataType.sql}")
    if (!o.value.same(from.head.value)) throw new Refused("value-types", s"${from.head.value.dataType.sql}|${o.value.dataType.sql}")
  }

  private[program] def define(stage: Int, d: StoreDef): Unit = {
    // A store finds a key by its bytes.
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

  private[program] def add(id: Int, stage: Int, p: Processor, key: RowType, value: RowType, isTable: Boolean, parents: Seq[Int]): Unit = {
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

  /** An edge into a later stage: a processor that sends at the one end, an entrance at the other. */
  private[program] def crossing(from: Made, id: Int, p: Processor, stage: Int): Processor = {
    if (!entries(stage).exists(_.node == id)) {
      entries(stage) += new Entrance(id, p, from.key.fields, from.value.fields, from.isTable)
    }
    val send = from.processor match {
      case s: SourceReader if s.broadcast => new ops.output.ToEveryTask(ProgramBuilder.Unnumbered, p.name, id, tasks)
      case _ => new ops.output.ToStage(ProgramBuilder.Unnumbered, p.name, id, from.isTable)
    }
    processors(from.stage) += send
    send
  }
}

/** A node of the program as its children need to know it. */
private[program] final class Made(
    val stage: Int, val processor: Processor, val key: RowType, val value: RowType, val isTable: Boolean)

object ProgramBuilder {
  private val Rounds = 5
  private val Unnumbered = -2
}
