package brookmere.kernel.program

import java.util.{List => JList}

import scala.collection.mutable
import scala.jdk.CollectionConverters._

import brookmere.kernel.core._
import brookmere.kernel.expr._
import brookmere.kernel.ops
import brookmere.kernel.python.stage.PythonNode
import brookmere.kernel.state.{Groups, StoreDef}

import org.apache.spark.sql.Column
import org.apache.spark.sql.brookmere.{Bind, Refused}
import org.apache.spark.sql.types.LongType

/** Adds the nodes of joins and what they look into. */
private[program] trait JoinNodes { this: ProgramBuilder =>
  private val copies = mutable.LinkedHashMap[(Int, Int), Processor]()
  private val fed = mutable.Map[Int, Seq[Int]]()
  private val hurried = mutable.Set[Int]()
  private var nextCopy = 0

  /** Tells from which number on copies of tables may be counted as nodes. */
  def countCopiesFrom(number: Int): Unit = nextCopy = number

  /** The number of another copy. */
  private[program] def copyNumber(): Int = { nextCopy += 1; nextCopy - 1 }

  def streamTableJoin(id: Int, name: String, stage: Int, parents: JList[Integer], table: Int, isLeft: Boolean, joiner: Column): Unit = {
    val in = input(name, parents)
    agreeOnKey(in.key, made(table).key)
    val join = bindJoiner(in.key, in.value, made(table).value, joiner)
    val p = new ops.joins.StreamTableJoin(id, name, view(table, stage), null, isLeft, join)
    add(id, stage, p, in.key, join.result, isTable = false, ids(parents))
  }

  /** As a stream-table join, with a buffer for records that wait. */
  def waitingJoin(id: Int, name: String, stage: Int, parents: JList[Integer], table: Int, isLeft: Boolean, joiner: Column,
      store: String, kind: String, grace: Long, dropLate: Boolean): Unit = {
    val in = input(name, parents)
    agreeOnKey(in.key, made(table).key)
    val join = bindJoiner(in.key, in.value, made(table).value, joiner)
    define(stage, StoreDef(store, kind, in.key, ops.joins.WaitingJoin.keptType(in.value), Some(Groups(Groups.Items, Groups.Forever, timed = true))))
    val p = new ops.joins.WaitingJoin(id, name, view(table, stage), isLeft, join, store, grace, dropLate, in.key, in.value.fields)
    add(id, stage, p, in.key, join.result, isTable = false, ids(parents))
  }

  def versionedSource(id: Int, name: String, stage: Int, parents: JList[Integer], store: String, kind: String, history: Long,
      sendOld: Boolean): Unit = {
    val in = input(name, parents)
    define(stage, versions(store, kind, in.key, in.value, history))
    add(id, stage, new ops.tables.VersionedSource(id, name, store, history, sendOld), in.key, in.value, isTable = true, ids(parents))
  }

  def globalJoin(id: Int, name: String, stage: Int, parents: JList[Integer], table: Int, key: Column, isLeft: Boolean,
      joiner: Column): Unit = {
    val in = input(name, parents)
    val mapper = bind(in, key)
    agreeOnKey(mapper.result, made(table).key)
    val join = bindJoiner(in.key, in.value, made(table).value, joiner)
    val p = new ops.joins.StreamTableJoin(id, name, view(table, stage), mapper, isLeft, join)
    add(id, stage, p, in.key, join.result, isTable = false, ids(parents))
  }

  def tableJoin(id: Int, name: String, stage: Int, parents: JList[Integer], other: Int, isLeft: Boolean, how: String,
      joiner: Column, sendOld: Boolean, versioned: Boolean): Unit = {
    val in = input(name, parents)
    val to = made(other)
    agreeOnKey(in.key, to.key)
    val join = if (isLeft) bindJoiner(in.key, in.value, to.value, joiner) else bindJoiner(in.key, to.value, in.value, joiner)
    val (needsLeft, needsRight) = needs(how)
    val (own, others) = if (isLeft) (needsLeft, needsRight) else (needsRight, needsLeft)
    val p = new ops.joins.TableJoin(id, name, view(other, stage), join, isLeft, own, others, sendOld, versioned)
    add(id, stage, p, in.key, join.result, isTable = true, ids(parents))
  }

  /** The first parent is the left side, the second one the right side. */
  def tableJoinMerge(id: Int, name: String, stage: Int, parents: JList[Integer], how: String, store: String, kind: String,
      sendOld: Boolean): Unit = {
    val in = input(name, parents)
    val (needsLeft, needsRight) = needs(how)
    val Seq(left, right) = ids(parents).map(made(_).processor.asInstanceOf[ops.joins.TableJoin])
    val of = new ops.joins.JoinView(left.joiner, needsLeft, needsRight, right.other, left.other)
    if (store != null) define(stage, StoreDef(store, kind, in.key, in.value))
    add(id, stage, new ops.joins.TableJoinMerge(id, name, store, sendOld, of), in.key, in.value, isTable = true, ids(parents))
  }

  // ---- foreign keys ----

  def subscriptionSend(id: Int, name: String, stage: Int, parents: JList[Integer], key: Column, isLeft: Boolean, versioned: Boolean): Unit = {
    val in = input(name, parents)
    val foreign = bind(in, key)
    val p = new ops.foreignkey.SubscriptionSend(id, name, foreign, isLeft, versioned)
    add(id, stage, p, foreign.result, ops.foreignkey.Subscription.messageType(in.key), isTable = false, ids(parents))
  }

  def subscriptionReceive(id: Int, name: String, stage: Int, parents: JList[Integer], store: String, kind: String): Unit = {
    val in = input(name, parents)
    val left = ops.foreignkey.Subscription.keyType(in.value)
    define(stage, StoreDef(store, kind, in.key, ops.foreignkey.Subscription.keptType, Some(Groups(Groups.Items, Groups.Forever, sub = Some(left)))))
    add(id, stage, new ops.foreignkey.SubscriptionReceive(id, name, store, left.fields), in.key, in.value, isTable = false, ids(parents))
  }

  def subscriptionJoin(id: Int, name: String, stage: Int, parents: JList[Integer], right: Int): Unit = {
    val in = input(name, parents)
    agreeOnKey(in.key, made(right).key)
    val left = ops.foreignkey.Subscription.keyType(in.value)
    val p = new ops.foreignkey.SubscriptionJoin(id, name, view(right, stage), left.fields, ops.foreignkey.Subscription.isText(made(right).value))
    add(id, stage, p, left, ops.foreignkey.Subscription.answerType(made(right).value), isTable = false, ids(parents))
  }

  def foreignUpdate(id: Int, name: String, stage: Int, parents: JList[Integer], store: String, versioned: Boolean): Unit = {
    val in = input(name, parents)
    val left = stores(stage).find(_.name == store).flatMap(_.groups).flatMap(_.sub).get
    val p = new ops.foreignkey.ForeignUpdate(id, name, store, left.fields, ops.foreignkey.Subscription.isText(in.value), versioned)
    add(id, stage, p, left, ops.foreignkey.Subscription.answerType(in.value), isTable = false, ids(parents))
  }

  def responseJoin(id: Int, name: String, stage: Int, parents: JList[Integer], left: Int, isLeft: Boolean, joiner: Column): Unit = {
    val in = input(name, parents)
    val right = ops.foreignkey.Subscription.valueType(in.value)
    val join = bindJoiner(in.key, made(left).value, right, joiner)
    val p = new ops.foreignkey.ResponseJoin(id, name, view(left, stage), isLeft, join, right.fields)
    add(id, stage, p, in.key, join.result, isTable = false, ids(parents))
  }

  /** Where an answer says to which task it goes; -1 for all other records. */
  private[program] def taskField(parent: Int): Int = made(parent).processor match {
    case _: ops.foreignkey.SubscriptionJoin | _: ops.foreignkey.ForeignUpdate => ops.foreignkey.Subscription.To
    case _ => -1
  }

  // ---- looking into tables ----

  /** The table of a node as a processor of `stage` sees it: the table itself, or over copies of what it keeps. */
  private[program] def view(table: Int, stage: Int): View = made(table).processor match {
    case v: View => seen(v, stage)
    case p => throw new IllegalStateException(s"${p.name} is no table")
  }

  private def seen(v: View, stage: Int): View = keeper(v) match {
    case Some(id) if isAllIn(v, id, stage) => made(id).processor.asInstanceOf[View]
    case Some(id) if v.sources.isEmpty => copies.getOrElseUpdate((id, stage), copy(id, stage)).asInstanceOf[View]
    case _ => v.over(v.sources.map(seen(_, stage)))
  }

  /** True if a table and all that its rows are computed from are in one stage. */
  private def isAllIn(v: View, id: Int, stage: Int): Boolean =
    made(id).stage == stage && v.sources.forall(s => keeper(s).exists(n => isAllIn(s, n, stage)))

  /** The node behind a view; that of the table behind a copy. */
  private def keeper(v: View): Option[Int] =
    copies.collectFirst { case ((id, _), c) if c eq v => id }.orElse(made.collectFirst { case (id, m) if m.processor eq v => id })

  /** Keeps a table's rows in a later stage, too. They arrive there before all that their change brings about. */
  private def copy(id: Int, stage: Int): Processor = {
    val from = made(id)
    val kept = from.processor.asInstanceOf[View].keptIn
    val original = stores(from.stage).find(_.name == kept)
    val kind = original.fold(StoreDef.Auto)(_.kind)
    val number = copyNumber()
    val store = copyName((if (kept == null) from.processor.name else kept) + "-copy", stage)
    val p = (from.processor, original.flatMap(_.groups)) match {
      case (v: ops.tables.VersionedTable, _) =>
        define(stage, versions(store, kind, from.key, from.value, v.history))
        new ops.tables.VersionedCopy(number, v.name, store, v.history)
      case (w, Some(form)) =>
        define(stage, StoreDef(store, kind, from.key, from.value, Some(Groups(Groups.Items, form.retention))))
        new ops.windows.WindowCopy(number, w.name, store, if (form.shape == Groups.Session) ops.windows.WindowCopy.End else ops.windows.WindowCopy.Start)
      case (o, None) =>
        define(stage, StoreDef(store, kind, from.key, from.value))
        new ops.tables.TableCopy(number, o.name, store)
    }
    addCopy(from, number, p, stage)
    p
  }

  /** Lets a node of a later stage have the changes of a table before all others. */
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
        case _ =>
      }
      w.processor.children = sender +: w.processor.children
    }
  }

  /** The numbers of the copies that a Python node feeds: its worker has to send to them, too. */
  def copiesOf(id: Int): JList[Integer] = fed.getOrElse(id, Seq.empty).map(Int.box).asJava

  /**
   * Lets go at once what a table that Python makes depends on, also where the last update of a batch would do: those who look
   * into its copy must find what came before them.
   */
  private def hurry(id: Int): Unit = if (hurried.add(id)) made(id).processor match {
    case u: ops.tables.TableProcessor if u.keptIn != null => u.isHurried = true
    case n: PythonNode if n.keptIn != null =>
    case _ => parentsOf.getOrElse(id, Seq.empty).filter(made(_).isTable).foreach(hurry)
  }

  /** True if what a node sends may not wait for the end of a batch. */
  def isHurried(id: Int): Boolean = hurried(id)

  /** Stages of one chain keep their stores in one place: a second copy there has a number behind its name. */
  private[program] def copyName(name: String, stage: Int): String = {
    val taken = stores.indices.filter(chainOf(_) == chainOf(stage)).flatMap(n => stores(n).map(_.name)).toSet
    Iterator.single(name).concat(Iterator.from(2).map(name + _)).find(!taken(_)).get
  }

  /** All nodes that write the store of a table: co-grouped streams share one. */
  private def writers(of: Made, store: String): Seq[Made] = made.values.toSeq.filter { m =>
    (m eq of) || (store != null && m.stage == of.stage && (m.processor match { case v: View => v.keptIn == store; case _ => false }))
  }

  // ---- inside ----

  private def versions(store: String, kind: String, key: RowType, value: RowType, history: Long): StoreDef =
    StoreDef(store, kind, key, value, Some(Groups(Groups.Versions, history)))

  private def needs(how: String): (Boolean, Boolean) = how match {
    case "inner" => (true, true)
    case "left" => (true, false)
    case "outer" => (false, false)
  }

  private def agreeOnKey(a: RowType, b: RowType): Unit =
    if (!a.same(b)) throw new Refused("key-types", s"${a.dataType.sql}|${b.dataType.sql}")

  private[program] def bindJoiner(key: RowType, left: RowType, right: RowType, joiner: Column): Bound =
    Bind(spark, Seq(Bind.row("key", key), Bind.row("left", left), Bind.plain("timestamp", LongType), Bind.row("right", right)), joiner)
}
