package brookmere.kernel.program

import java.util.{List => JList}

import scala.jdk.CollectionConverters._

import brookmere.kernel.expr.{RowType, TypeMerge}
import brookmere.kernel.ops.aggregates.{Aggregate, Combine, TableAggregate, TableGroup}
import brookmere.kernel.ops.tables._
import brookmere.kernel.state.{Groups, StoreDef}

import org.apache.spark.sql.Column
import org.apache.spark.sql.brookmere.{Bind, Refused}
import org.apache.spark.sql.types.{BooleanType, DataType}

/** Adds tables, and aggregates without windows. A store that is null means that the table keeps no rows. */
private[program] trait TableNodes { this: ProgramBuilder =>
  def tableSource(at: Place, store: StoreSpec, sendOld: Boolean): Unit = {
    val in = input(at)
    defineRows(at, store, in.key, in.value)
    add(at, new TableSource(at.number, at.name, nameOf(store), sendOld), in.key, in.value, isTable = true)
  }

  /** A table that keeps the versions of its rows for `history` milliseconds. */
  def versionedSource(at: Place, store: StoreSpec, history: Long, sendOld: Boolean): Unit = {
    val in = input(at)
    define(at.stage, versions(store.name, store.kind, in.key, in.value, history))
    add(at, new VersionedSource(at.number, at.name, store.name, history, sendOld), in.key, in.value, isTable = true)
  }

  /** A table whose rows expire `ttl` milliseconds after their last update. */
  def expiringTable(at: Place, store: StoreSpec, ttl: Long, sendOld: Boolean): Unit = {
    val in = input(at)
    val ages = store.name + "-ages"
    defineRows(at, store, in.key, in.value)
    // Rows older than the time to live are deleted before they are looked up here.
    val groups = Groups(Groups.Items, ttl + 1, timed = true)
    define(at.stage, StoreDef(ages, store.kind, in.key, TableNodes.mark, Some(groups)))
    val p = new ExpiringTable(at.number, at.name, store.name, ages, in.key, ttl, sendOld)
    add(at, p, in.key, in.value, isTable = true)
  }

  def tableFilter(
      at: Place,
      predicate: Column,
      negate: Boolean,
      store: StoreSpec,
      sendOld: Boolean,
      versioned: Boolean): Unit = {
    val in = input(at)
    defineRows(at, store, in.key, in.value)
    val keep = test(in, predicate)
    val p = new TableFilter(at.number, at.name, keep, negate, nameOf(store), sendOld, versioned, table(at))
    add(at, p, in.key, in.value, isTable = true)
  }

  def tableMapValues(at: Place, value: Column, store: StoreSpec, sendOld: Boolean, seesNull: Boolean): Unit = {
    val in = input(at)
    val v = bind(in, value)
    defineRows(at, store, in.key, v.result)
    val p = new TableMapValues(at.number, at.name, v, nameOf(store), sendOld, seesNull, table(at))
    add(at, p, in.key, v.result, isTable = true)
  }

  def tableToStream(at: Place): Unit = {
    val in = input(at)
    add(at, new TableToStream(at.number, at.name), in.key, in.value, isTable = false)
  }

  def tableGroup(at: Place, key: Column, value: Column, versioned: Boolean): Unit = {
    val in = input(at)
    val k = bind(in, key)
    val v = bind(in, value)
    add(at, new TableGroup(at.number, at.name, k, v, versioned), k.result, v.result, isTable = true)
  }

  // ---- aggregates ----

  /** Returns the JSON of the type that holds the initial value and the result of every step. */
  def aggregateType(initial: Column, parents: JList[Integer], steps: JList[Column]): String = {
    val ins = parents.asScala.map(p => made(p)).toSeq
    var t: DataType =
      if (initial == null) ins.head.value.dataType
      else RowType(Bind.typeOf(spark, Seq.empty, initial)).dataType
    var changed = true
    var round = 0
    while (changed && round < TableNodes.Rounds) {
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

  /** `merges` if the records that arrive are early folds of `combine`. */
  def aggregate(at: Place, store: StoreSpec, fold: FoldSpec, sendOld: Boolean, merges: Boolean): Unit = {
    val in = input(at)
    val t = RowType(DataType.fromJson(fold.valueType))
    defineRows(at, store, in.key, t)
    val shown = show(fold.result, t)
    val (initial, step) = (start(fold.initial, t), folding(in, fold.step, t))
    val p = new Aggregate(at.number, at.name, store.name, initial, step, shown, sendOld, merges)
    add(at, p, in.key, if (shown == null) t else shown.result, isTable = true)
  }

  /** Folds records for the aggregate `of` before the exchange; the aggregate then merges what arrives. */
  def combine(at: Place, of: Int, fold: FoldSpec): Unit = {
    val in = input(at)
    val t = RowType(DataType.fromJson(fold.valueType))
    val (initial, step) = (start(fold.initial, t), folding(in, fold.step, t))
    add(at, new Combine(of, at.name, initial, step, in.key.fields, t.fields), in.key, t, isTable = false)
  }

  /** The step of `fold` adds a value, `subtractor` removes one. */
  def tableAggregate(at: Place, store: StoreSpec, fold: FoldSpec, subtractor: Column, sendOld: Boolean): Unit = {
    val in = input(at)
    val t = RowType(DataType.fromJson(fold.valueType))
    defineRows(at, store, in.key, t)
    val shown = show(fold.result, t)
    val (add_, subtract) = (folding(in, fold.step, t), folding(in, subtractor, t))
    val initial = start(fold.initial, t)
    val p = new TableAggregate(at.number, at.name, store.name, initial, add_, subtract, shown, sendOld)
    add(at, p, in.key, if (shown == null) t else shown.result, isTable = true)
  }

  // ---- inside ----

  private[program] def nameOf(store: StoreSpec): String = if (store == null) null else store.name

  private[program] def defineRows(at: Place, store: StoreSpec, key: RowType, value: RowType): Unit =
    if (store != null) define(at.stage, StoreDef(store.name, store.kind, key, value))

  private[program] def versions(name: String, kind: String, key: RowType, value: RowType, history: Long): StoreDef =
    StoreDef(name, kind, key, value, Some(Groups(Groups.Versions, history)))
}

private[program] object TableNodes {
  /** How often the steps of an aggregate may widen its type. */
  private val Rounds = 5

  /** The value of a row that has nothing but a time. */
  val mark: RowType = RowType(BooleanType)
}
