package brookmere.kernel.program

import brookmere.kernel.core.Processor
import brookmere.kernel.expr.{RowType, Writer}
import brookmere.kernel.ops.aggregates.{Aggregate, PythonFold, TableAggregate}
import brookmere.kernel.ops.output.{Changelog, ForwardTime}
import brookmere.kernel.ops.tables.TableProcessor
import brookmere.kernel.ops.windows.Fold
import brookmere.kernel.python.marshal.MarshalWrite
import brookmere.kernel.python.stage.{PythonNode, PythonPart}
import brookmere.kernel.python.stores.StoreSnapshot
import brookmere.kernel.state.{Groups, StoreDef}

import org.apache.spark.sql.types.{DataType, StructType}

/** Adds what runs in Python: nodes, the stores that they keep, and their code. */
private[program] trait PythonNodes { this: ProgramBuilder =>
  private var firstStore = PythonNodes.FirstStore

  /** A node of a Python stage. A type that is null is that of the records which the node receives. */
  def pythonNode(at: Place, keyType: String, valueType: String, sendsTable: Boolean, needsTicks: Boolean): Unit = {
    val in = input(at)
    val key = typeOf(keyType, in.key)
    val value = typeOf(valueType, in.value)
    Seq(in.key, in.value, key, value).foreach(t => MarshalWrite.check(t.dataType))
    val p = new PythonNode(at.number, at.name, in.key, in.value, key, value, in.isTable, sendsTable, needsTicks)
    add(at, p, key, value, sendsTable)
  }

  /** An aggregate of a stream or of a table with functions in Python. */
  def pythonAggregate(at: Place, store: StoreSpec, fold: PythonFoldSpec, sendOld: Boolean): Unit = {
    val in = input(at)
    val f = pythonFold(at, fold)
    defineRows(at, store, in.key, f.kept)
    val p =
      if (in.isTable) new TableAggregate(at.number, at.name, store.name, null, null, null, null, sendOld, f)
      else new Aggregate(at.number, at.name, store.name, null, null, null, sendOld, merges = false, f)
    add(at, p, in.key, f.kept, isTable = true)
  }

  def pythonTimeWindows(
      at: Place,
      store: TimedStoreSpec,
      fold: PythonFoldSpec,
      emission: EmissionSpec,
      windows: TimeWindowSpec): Unit =
    addTimeWindows(at, store, windowFold(at, store, fold), emission, windows)

  def pythonSlidingWindows(
      at: Place,
      store: TimedStoreSpec,
      fold: PythonFoldSpec,
      emission: EmissionSpec,
      windows: SlidingWindowSpec): Unit =
    addSlidingWindows(at, store, windowFold(at, store, fold), emission, windows)

  def pythonSessionWindows(
      at: Place,
      store: TimedStoreSpec,
      fold: PythonFoldSpec,
      emission: EmissionSpec,
      windows: SessionWindowSpec): Unit =
    addSessionWindows(at, store, windowFold(at, store, fold), emission, windows)

  private def windowFold(at: Place, store: TimedStoreSpec, fold: PythonFoldSpec): Fold =
    Fold(store.name, input(at).key, null, null, null, null, pythonFold(at, fold))

  private def pythonFold(at: Place, fold: PythonFoldSpec): PythonFold = {
    val in = input(at)
    val kept = RowType(DataType.fromJson(fold.valueType))
    Seq(in.key, in.value, kept).foreach(t => MarshalWrite.check(t.dataType))
    PythonFold(fold.step, fold.other, in.key, in.value, kept, fold.hasInitial, fold.takesKey)
  }

  /** Sets the store in which Python keeps the table that a node sends. */
  def pythonTable(number: Int, store: String): Unit = made(number).processor.asInstanceOf[PythonNode].keepIn(store)

  /**
   * A store of the Python nodes of a stage. They know it by its position among the stores of the stage. Returns the
   * number of a node that sends the rows of the store: the key, with its window if it has one, and the value. Writers
   * of its changelog are found by that number.
   */
  def pythonStore(stage: Int, store: PythonStoreSpec): Int = {
    val key = RowType(DataType.fromJson(store.keyType))
    val value = RowType(DataType.fromJson(store.valueType))
    Seq(key, value).foreach(t => MarshalWrite.check(t.dataType))
    val groups = PythonNodes.form(store.shape, store.retention, store.windowMs)
    val d = StoreDef(store.name, store.kind, key, value, groups)
    define(stage, d)
    firstStore -= 1
    made(firstStore) = new Made(stage, new StoreSnapshot(firstStore, d), d.shownKey, value, isTable = true)
    firstStore
  }

  /**
   * Keeps the rows of a table in a Python stage that reads them, as one more of its stores. Returns the number of the
   * node that receives the changes and keeps them.
   */
  def pythonCopy(stage: Int, table: Int, store: String): Int = {
    val from = made(table)
    Seq(from.key, from.value).foreach(t => MarshalWrite.check(t.dataType))
    val original = stores(from.stage).find(_.name == store)
    val form = original.flatMap(_.groups)
    val key = (form, from.key.dataType) match {
      case (Some(Groups(Groups.Window | Groups.Session, _, _, _, _)), StructType(Array(k, _, _))) =>
        RowType(k.dataType)
      case _ => from.key
    }
    val kind = original.fold(StoreDef.Auto)(_.kind)
    define(stage, StoreDef(copyName(store + "-copy", stage), kind, key, from.value, form.map(_.copy(timed = false))))
    val number = copyNumber()
    val p = new PythonNode(number, from.processor.name, from.key, from.value, from.key, from.value,
      getsTable = true, sendsTable = true, ticks = false)
    addCopy(from, number, p, stage)
    number
  }

  /** The code of the nodes of a Python stage, as the worker unpickles it. */
  def pythonCode(stage: Int, code: Array[Byte]): Unit =
    python(stage) = new PythonPart(code, processors(stage).exists(_.needsTicks), processors(stage).exists(isFold))

  private def isFold(p: Processor): Boolean = p match {
    case t: TableProcessor => t.python != null
    case _ => false
  }

  /** A changelog of a store that Python keeps; `store` is the number that `pythonStore` returned. */
  def storeChangelog(at: Place, store: Int, key: Writer, value: Writer, log: LogStart): Unit = {
    val of = made(store)
    val rows = of.processor.asInstanceOf[StoreSnapshot]
    processors(at.stage) += rows
    val p = new Changelog(at.number, at.name, key, value, rows, log.since, log.isNew)
    add(at, p, of.key, of.value, isTable = false, Seq.empty)
  }

  /**
   * Makes the records of a source move the stream time of a sub-topology in a stage: before any of their results or,
   * with `isDue`, after them, where punctuations are called.
   */
  def moveTime(source: Int, stage: Int, subtopology: Int, isDue: Boolean): Unit = {
    val from = made(source)
    val p = new ForwardTime(PythonNodes.Unnumbered, from.processor.name, stage, subtopology, isDue)
    processors(from.stage) += p
    from.processor.children = if (isDue) from.processor.children :+ p else p +: from.processor.children
  }

  private def typeOf(json: String, otherwise: RowType): RowType =
    if (json == null) otherwise else RowType(DataType.fromJson(json))

  /** True if the worker itself sends records along an edge. */
  private[program] def isInWorker(from: Processor, to: Processor): Boolean =
    from.isInstanceOf[PythonNode] && to.isInstanceOf[PythonNode]
}

private[program] object PythonNodes {
  private val Unnumbered = -2
  private val FirstStore = -1000

  /** How the rows of a key differ; None if there is one row per key. */
  private def form(shape: String, retention: Long, windowMs: Long): Option[Groups] = shape match {
    case "key_value" => None
    case "window" => Some(Groups(Groups.Window, retention, windowMs))
    case "session" => Some(Groups(Groups.Session, retention))
    case "versioned" => Some(Groups(Groups.Versions, retention))
    case other => throw new IllegalArgumentException(s"not a shape of a store: $other")
  }
}
