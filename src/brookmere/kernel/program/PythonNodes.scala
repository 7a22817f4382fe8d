package brookmere.kernel.program

import java.util.{List => JList}

import brookmere.kernel.core.Processor
import brookmere.kernel.expr.{RowType, Writer}
import brookmere.kernel.ops
import brookmere.kernel.python.marshal.MarshalWrite
import brookmere.kernel.python.stage.{PythonNode, PythonPart}
import brookmere.kernel.python.stores.StoreSnapshot
import brookmere.kernel.state.{Groups, StoreDef}

import org.apache.spark.sql.types.{DataType, StructType}

/** Adds what runs in Python: nodes, the stores they keep, and their code. */
private[program] trait PythonNodes { this: ProgramBuilder =>
  private var firstStore = PythonNodes.FirstStore

  /** A node of a Python stage. A type that is null is that of what the node receives. */
  def pythonNode(id: Int, name: String, stage: Int, parents: JList[Integer], keyType: String, valueType: String, sendsTable: Boolean,
      needsTicks: Boolean): Unit = {
    val in = input(name, parents)
    val key = typeOf(keyType, in.key)
    val value = typeOf(valueType, in.value)
    Seq(in.key, in.value, key, value).foreach(t => MarshalWrite.check(t.dataType))
    val p = new PythonNode(id, name, in.key, in.value, key, value, in.isTable, sendsTable, needsTicks)
    add(id, stage, p, key, value, sendsTable, ids(parents))
  }

  /** The functions of an aggregate: the numbers under which the worker knows them, and the type that they keep. */
  def pythonFold(step: Int, other: Int, parents: JList[Integer], keptType: String, hasInitial: Boolean,
      takesKey: Boolean): ops.aggregates.PythonFold = {
    val in = made(parents.get(0))
    val kept = RowType(DataType.fromJson(keptType))
    Seq(in.key, in.value, kept).foreach(t => MarshalWrite.check(t.dataType))
    ops.aggregates.PythonFold(step, other, in.key, in.value, kept, hasInitial, takesKey)
  }

  /** How a windowed aggregate with functions in Python folds, as `foldOf` says it of one with Columns. */
  def pythonFoldOf(name: String, parents: JList[Integer], store: String, f: ops.aggregates.PythonFold): ops.windows.Fold =
    ops.windows.Fold(store, input(name, parents).key, null, null, null, null, f)

  /** An aggregate of a stream or of a table, with functions in Python. */
  def pythonAggregate(id: Int, name: String, stage: Int, parents: JList[Integer], store: String, kind: String,
      f: ops.aggregates.PythonFold, sendOld: Boolean): Unit = {
    val in = input(name, parents)
    define(stage, StoreDef(store, kind, in.key, f.kept))
    val p =
      if (in.isTable) new ops.aggregates.TableAggregate(id, name, store, null, null, null, null, sendOld, f)
      else new ops.aggregates.Aggregate(id, name, store, null, null, null, sendOld, merges = false, f)
    add(id, stage, p, in.key, f.kept, isTable = true, ids(parents))
  }

  /** Says that the table which a node sends is kept in a store that Python keeps. */
  def pythonTable(id: Int, store: String): Unit = made(id).processor.asInstanceOf[PythonNode].keepIn(store)

  /**
   * A store that the Python nodes of a stage keep. They know it by its place among the stores of the stage. The result is
   * a number of a node that sends what the store has: key, with its window if it has one, and value. Writers are found by it.
   */
  def pythonStore(stage: Int, name: String, kind: String, keyType: String, valueType: String, shape: String, retention: Long,
      windowMs: Long): Int = {
    val key = RowType(DataType.fromJson(keyType))
    val value = RowType(DataType.fromJson(valueType))
    Seq(key, value).foreach(t => MarshalWrite.check(t.dataType))
    val d = StoreDef(name, kind, key, value, PythonNodes.form(shape, retention, windowMs))
    define(stage, d)
    firstStore -= 1
    made(firstStore) = new Made(stage, new StoreSnapshot(firstStore, d), d.shownKey, value, isTable = true)
    firstStore
  }

  /**
   * Keeps the rows of a table in a Python stage that reads them, as one more of its stores; the result is the number of the
   * node that gets the changes and keeps them.
   */
  def pythonCopy(stage: Int, table: Int, store: String): Int = {
    val from = made(table)
    Seq(from.key, from.value).foreach(t => MarshalWrite.check(t.dataType))
    val original = stores(from.stage).find(_.name == store)
    val form = original.flatMap(_.groups)
    val key = (form, from.key.dataType) match {
      case (Some(Groups(Groups.Window | Groups.Session, _, _, _, _)), StructType(Array(k, _, _))) => RowType(k.dataType)
      case _ => from.key
    }
    define(stage, StoreDef(copyName(store + "-copy", stage), original.fold(StoreDef.Auto)(_.kind), key, from.value, form.map(_.copy(timed = false))))
    val number = copyNumber()
    val p = new PythonNode(number, from.processor.name, from.key, from.value, from.key, from.value, getsTable = true, sendsTable = true, ticks = false)
    addCopy(from, number, p, stage)
    number
  }

  /** The code of the nodes of a Python stage, as the worker unpickles it. */
  def pythonCode(stage: Int, code: Array[Byte]): Unit =
    python(stage) = new PythonPart(code, processors(stage).exists(_.needsTicks), processors(stage).exists(isFold))

  private def isFold(p: Processor): Boolean = p match {
    case t: ops.tables.TableProcessor => t.python != null
    case _ => false
  }

  /** A changelog of a store that Python keeps; `store` is the number that `pythonStore` gave. */
  def storeChangelog(id: Int, name: String, stage: Int, store: Int, key: Writer, value: Writer, since: Long, isNew: Boolean): Unit = {
    val of = made(store)
    val rows = of.processor.asInstanceOf[StoreSnapshot]
    processors(stage) += rows
    add(id, stage, new ops.output.Changelog(id, name, key, value, rows, since, isNew), of.key, of.value, isTable = false, Seq.empty)
  }

  /**
   * Has the records of a source move the stream time of a sub-topology in a stage: in front of all that they bring
   * about, or, with `isDue`, behind it, where punctuations are called.
   */
  def moveTime(source: Int, stage: Int, subtopology: Int, isDue: Boolean): Unit = {
    val from = made(source)
    val p = new ops.output.ForwardTime(PythonNodes.Unnumbered, from.processor.name, stage, subtopology, isDue)
    processors(from.stage) += p
    from.processor.children = if (isDue) from.processor.children :+ p else p +: from.processor.children
  }

  private def typeOf(json: String, otherwise: RowType): RowType = if (json == null) otherwise else RowType(DataType.fromJson(json))

  /** True if an edge is followed in the worker. */
  private[program] def isInWorker(from: Processor, to: Processor): Boolean =
    from.isInstanceOf[PythonNode] && to.isInstanceOf[PythonNode]
}

private[program] object PythonNodes {
  private val Unnumbered = -2
  private val FirstStore = -1000

  /** How the rows of a key differ; several per key where the shape says so. */
  private def form(shape: String, retention: Long, windowMs: Long): Option[Groups] = shape match {
    case "key_value" => None
    case "window" => Some(Groups(Groups.Window, retention, windowMs))
    case "session" => Some(Groups(Groups.Session, retention))
    case "versioned" => Some(Groups(Groups.Versions, retention))
    case other => throw new IllegalArgumentException(s"no shape of a store: $other")
  }
}
