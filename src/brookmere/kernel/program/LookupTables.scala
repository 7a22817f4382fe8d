package brookmere.kernel.program

import java.util.{List => JList}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import brookmere.kernel.core.{Processor, View}
import brookmere.kernel.ops.tables.{TableCopy, TableProcessor, VersionedCopy, VersionedTable}
import brookmere.kernel.ops.windows.WindowCopy
import brookmere.kernel.python.stage.PythonNode
import brookmere.kernel.state.{Groups, StoreDef}

/** Finds the rows of tables for lookups: in the table itself, or in a copy that a later stage keeps. */
private[program] trait LookupTables { this: ProgramBuilder =>
  private val copies = mutable.LinkedHashMap[(Int, Int), Processor]()
  private val fed = mutable.Map[Int, Seq[Int]]()
  private val hurried = mutable.Set[Int]()
  private var nextCopy = 0

  /** Sets the first number for copies of tables, which are nodes as well. */
  def countCopiesFrom(number: Int): Unit = nextCopy = number

  /** The number of the next copy. */
  private[program] def copyNumber(): Int = { nextCopy += 1; nextCopy - 1 }

  /** The table of a node as a processor of `stage` sees it: the table itself, or computed from copies. */
  private[program] def view(table: Int, stage: Int): View = made(table).processor match {
    case v: View => seen(v, stage)
    case p => throw new IllegalStateException(s"${p.name} is not a table")
  }

  private def seen(v: View, stage: Int): View = keeper(v) match {
    case Some(id) if isAllIn(v, id, stage) => made(id).processor.asInstanceOf[View]
    case Some(id) if v.sources.isEmpty => copies.getOrElseUpdate((id, stage), copy(id, stage)).asInstanceOf[View]
    case _ => v.over(v.sources.map(seen(_, stage)))
  }

  /** True if a table and everything its rows are computed from are in one stage. */
  private def isAllIn(v: View, id: Int, stage: Int): Boolean =
    made(id).stage == stage && v.sources.forall(s => keeper(s).exists(n => isAllIn(s, n, stage)))

  /** The node behind a view; that of the table behind a copy. */
  private def keeper(v: View): Option[Int] =
    copies.collectFirst { case ((id, _), c) if c eq v => id }
      .orElse(made.collectFirst { case (id, m) if m.processor eq v => id })

  /** Keeps a table's rows in a later stage, too. A change arrives there before any of its results. */
  private def copy(id: Int, stage: Int): Processor = {
    val from = made(id)
    val kept = from.processor.asInstanceOf[View].keptIn
    val original = stores(from.stage).find(_.name == kept)
    val kind = original.fold(StoreDef.Auto)(_.kind)
    val number = copyNumber()
    val store = copyName((if (kept == null) from.processor.name else kept) + "-copy", stage)
    val p = (from.processor, original.flatMap(_.groups)) match {
      case (v: VersionedTable, _) =>
        define(stage, versions(store, kind, from.key, from.value, v.history))
        new VersionedCopy(number, v.name, store, v.history)
      case (w, Some(form)) =>
        define(stage, StoreDef(store, kind, from.key, from.value, Some(Groups(Groups.Items, form.retention))))
        val by = if (form.shape == Groups.Session) WindowCopy.End else WindowCopy.Start
        new WindowCopy(number, w.name, store, by)
      case (o, None) =>
        define(stage, StoreDef(store, kind, from.key, from.value))
        new TableCopy(number, o.name, store)
    }
    addCopy(from, number, p, stage)
    p
  }

  /** Sends the changes of a table to a node of a later stage, before they are sent anywhere else. */
  private[program] def addCopy(from: Made, number: Int, p: Processor, stage: Int): Unit = {
    made(number) = new Made(stage, p, from.key, from.value, isTable = true)
    processors(stage) += p
    val kept = from.processor.asInstanceOf[View].keptIn
    for (w <- writers(from, kept)) {
      val sender = crossing(w, number, p, stage)
      w.processor match {
        case n: PythonNode =>
          n.leadsTo(number, sender)
          fed(n.id) = fed.getOrElse(n.id, Seq.empty) :+ number
          hurry(n.id)
        case t: TableProcessor if t.python != null => hurry(t.id)
        case _ =>
      }
      w.processor.children = sender +: w.processor.children
    }
  }

  /** The numbers of the copies that a Python node feeds; its worker sends to them, too. */
  def copiesOf(number: Int): JList[Integer] = fed.getOrElse(number, Seq.empty).map(Int.box).asJava

  /**
   * Makes everything that a table of a Python stage depends on send each update at once, even if only the last update
   * of a batch is asked for: lookups in its copy must find what came before them.
   */
  private def hurry(id: Int): Unit = if (hurried.add(id)) made(id).processor match {
    case u: TableProcessor if u.keptIn != null => u.isHurried = true
    case n: PythonNode if n.keptIn != null =>
    case _ => parentsOf.getOrElse(id, Seq.empty).filter(made(_).isTable).foreach(hurry)
  }

  /** True if the updates of a node must not wait for the end of a batch. */
  def isHurried(number: Int): Boolean = hurried(number)

  /** Stages of one chain share a place for their stores, so a second copy there gets a number after its name. */
  private[program] def copyName(name: String, stage: Int): String = {
    val taken = stores.indices.filter(chainOf(_) == chainOf(stage)).flatMap(n => stores(n).map(_.name)).toSet
    Iterator.single(name).concat(Iterator.from(2).map(name + _)).find(!taken(_)).get
  }

  /** All nodes that write the store of a table: co-grouped streams share one. */
  private def writers(of: Made, store: String): Seq[Made] = made.values.toSeq.filter { m =>
    def keeps: Boolean = m.processor match { case v: View => v.keptIn == store; case _ => false }
    (m eq of) || (store != null && m.stage == of.stage && keeps)
  }
}
