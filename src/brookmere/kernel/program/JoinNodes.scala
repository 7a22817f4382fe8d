package brookmere.kernel.program

import brookmere.kernel.core.View
import brookmere.kernel.expr.{Bound, RowType}
import brookmere.kernel.ops.foreignkey._
import brookmere.kernel.ops.joins._
import brookmere.kernel.state.{Groups, StoreDef}

import org.apache.spark.sql.Column
import org.apache.spark.sql.brookmere.{Bind, Refused}
import org.apache.spark.sql.types.{BinaryType, LongType}

/** Adds the joins of streams and tables. */
private[program] trait JoinNodes { this: ProgramBuilder =>
  // ---- streams with streams ----

  def joinBuffer(at: Place, store: TimedStoreSpec): Unit = {
    val in = input(at)
    val groups = Groups(Groups.Items, store.retention)
    define(at.stage, StoreDef(store.name, store.kind, in.key, in.value, Some(groups)))
    add(at, new JoinBuffer(at.number, at.name, store.name), in.key, in.value, isTable = false)
  }

  /** `unmatched` is the store of records that wait for a match; null for an inner join. */
  def streamJoin(
      at: Place,
      join: StreamJoinSpec,
      unmatched: StoreSpec,
      span: JoinSpanSpec,
      joiner: Column): Unit = {
    val in = input(at)
    val value = made(join.buffer).value
    val (l, r) = if (join.isLeft) (in.value, value) else (value, in.value)
    val joined = bindJoiner(in.key, l, r, joiner)
    if (unmatched != null) {
      define(at.stage, StoreDef(unmatched.name, unmatched.kind, in.key, RowType(BinaryType), Some(byTime)))
    }
    val p = new StreamJoin(at.number, at.name, join.isLeft, join.isOuter, join.other, nameOf(unmatched), join.clock,
      spanOf(span), joined, in.key, in.value.fields, value.fields, join.dropLate, join.waitForGrace)
    add(at, p, in.key, joined.result, isTable = false)
  }

  /** Joins a stream with itself; `store` is that of its only buffer. */
  def streamSelfJoin(at: Place, store: String, span: JoinSpanSpec, joiner: Column): Unit = {
    val in = input(at)
    val joined = bindJoiner(in.key, in.value, in.value, joiner)
    val p = new StreamSelfJoin(at.number, at.name, store, spanOf(span), joined, in.value.fields)
    add(at, p, in.key, joined.result, isTable = false)
  }

  // ---- streams with tables ----

  def streamTableJoin(at: Place, lookup: LookupSpec): Unit = {
    val in = input(at)
    val (rows, join) = looked(at, in, lookup)
    val p = new StreamTableJoin(at.number, at.name, rows, null, lookup.isLeft, join)
    add(at, p, in.key, join.result, isTable = false)
  }

  /** A stream-table join whose records wait in a buffer for `grace` milliseconds. */
  def waitingJoin(at: Place, lookup: LookupSpec, store: StoreSpec, grace: Long, dropLate: Boolean): Unit = {
    val in = input(at)
    val (rows, join) = looked(at, in, lookup)
    define(at.stage, StoreDef(store.name, store.kind, in.key, WaitingJoin.keptType(in.value), Some(byTime)))
    val p = new WaitingJoin(at.number, at.name, rows, lookup.isLeft, join, store.name, grace, dropLate, in.key,
      in.value.fields)
    add(at, p, in.key, join.result, isTable = false)
  }

  /** Looks up the key that the column `key` computes. */
  def globalJoin(at: Place, lookup: LookupSpec, key: Column): Unit = {
    val in = input(at)
    val mapper = bind(in, key)
    agreeOnKey(mapper.result, made(lookup.table).key)
    val join = bindJoiner(in.key, in.value, made(lookup.table).value, lookup.joiner)
    val p = new StreamTableJoin(at.number, at.name, view(lookup.table, at.stage), mapper, lookup.isLeft, join)
    add(at, p, in.key, join.result, isTable = false)
  }

  // ---- tables with tables ----

  def tableJoin(at: Place, join: TableJoinSpec, sendOld: Boolean, versioned: Boolean): Unit = {
    val in = input(at)
    val to = made(join.other)
    agreeOnKey(in.key, to.key)
    val (l, r) = if (join.isLeft) (in.value, to.value) else (to.value, in.value)
    val joined = bindJoiner(in.key, l, r, join.joiner)
    val (needsLeft, needsRight) = needs(join.how)
    val (own, others) = if (join.isLeft) (needsLeft, needsRight) else (needsRight, needsLeft)
    val rows = view(join.other, at.stage)
    val p = new TableJoin(at.number, at.name, rows, joined, join.isLeft, own, others, sendOld, versioned)
    add(at, p, in.key, joined.result, isTable = true)
  }

  /** The first parent is the left side, the second one the right side. */
  def tableJoinMerge(at: Place, how: String, store: StoreSpec, sendOld: Boolean): Unit = {
    val in = input(at)
    val (needsLeft, needsRight) = needs(how)
    val Seq(left, right) = at.parentNumbers.map(made(_).processor.asInstanceOf[TableJoin])
    val of = new JoinView(left.joiner, needsLeft, needsRight, right.other, left.other)
    defineRows(at, store, in.key, in.value)
    add(at, new TableJoinMerge(at.number, at.name, nameOf(store), sendOld, of), in.key, in.value, isTable = true)
  }

  // ---- foreign keys ----

  def subscriptionSend(at: Place, key: Column, isLeft: Boolean, versioned: Boolean): Unit = {
    val in = input(at)
    val foreign = bind(in, key)
    val p = new SubscriptionSend(at.number, at.name, foreign, isLeft, versioned)
    add(at, p, foreign.result, Subscription.messageType(in.key), isTable = false)
  }

  def subscriptionReceive(at: Place, store: StoreSpec): Unit = {
    val in = input(at)
    val left = Subscription.keyType(in.value)
    val groups = Groups(Groups.Items, Groups.Forever, sub = Some(left))
    define(at.stage, StoreDef(store.name, store.kind, in.key, Subscription.keptType, Some(groups)))
    add(at, new SubscriptionReceive(at.number, at.name, store.name, left.fields), in.key, in.value, isTable = false)
  }

  /** `right` is the node with the right table. */
  def subscriptionJoin(at: Place, right: Int): Unit = {
    val in = input(at)
    val value = made(right).value
    agreeOnKey(in.key, made(right).key)
    val left = Subscription.keyType(in.value)
    val isText = Subscription.isText(value)
    val p = new SubscriptionJoin(at.number, at.name, view(right, at.stage), left.fields, isText)
    add(at, p, left, Subscription.answerType(value), isTable = false)
  }

  /** `store` is the store of the subscriptions. */
  def foreignUpdate(at: Place, store: String, versioned: Boolean): Unit = {
    val in = input(at)
    val left = stores(at.stage).find(_.name == store).flatMap(_.groups).flatMap(_.sub).get
    val p = new ForeignUpdate(at.number, at.name, store, left.fields, Subscription.isText(in.value), versioned)
    add(at, p, left, Subscription.answerType(in.value), isTable = false)
  }

  /** Joins answers with the rows of the left table. */
  def responseJoin(at: Place, lookup: LookupSpec): Unit = {
    val in = input(at)
    val right = Subscription.valueType(in.value)
    val join = bindJoiner(in.key, made(lookup.table).value, right, lookup.joiner)
    val p = new ResponseJoin(at.number, at.name, view(lookup.table, at.stage), lookup.isLeft, join, right.fields)
    add(at, p, in.key, join.result, isTable = false)
  }

  /** The field of an answer that holds the task it goes to; -1 for all other records. */
  private[program] def taskField(parent: Int): Int = made(parent).processor match {
    case _: SubscriptionJoin | _: ForeignUpdate => Subscription.To
    case _ => -1
  }

  // ---- inside ----

  private def byTime: Groups = Groups(Groups.Items, Groups.Forever, timed = true)

  private def spanOf(span: JoinSpanSpec): JoinSpan = JoinSpan(span.before, span.after, span.grace)

  private def looked(at: Place, in: Made, lookup: LookupSpec): (View, Bound) = {
    agreeOnKey(in.key, made(lookup.table).key)
    val join = bindJoiner(in.key, in.value, made(lookup.table).value, lookup.joiner)
    (view(lookup.table, at.stage), join)
  }

  private def needs(how: String): (Boolean, Boolean) = how match {
    case "inner" => (true, true)
    case "left" => (true, false)
    case "outer" => (false, false)
  }

  private def agreeOnKey(a: RowType, b: RowType): Unit =
    if (!a.same(b)) throw new Refused("key-types", s"${a.dataType.sql}|${b.dataType.sql}")

  private def bindJoiner(key: RowType, left: RowType, right: RowType, joiner: Column): Bound = {
    val time = Bind.plain("timestamp", LongType)
    Bind(spark, Seq(Bind.row("key", key), Bind.row("left", left), time, Bind.row("right", right)), joiner)
  }
}
