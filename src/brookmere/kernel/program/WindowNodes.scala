package brookmere.kernel.program

import java.util.{List => JList}

import brookmere.kernel.expr._
import brookmere.kernel.ops
import brookmere.kernel.rows.WindowKeys
import brookmere.kernel.state.{Groups, StoreDef}

import org.apache.spark.sql.Column
import org.apache.spark.sql.brookmere.Bind
import org.apache.spark.sql.types._

/** Adds windowed aggregates, suppression and joins of streams. */
private[program] trait WindowNodes { this: ProgramBuilder =>

  /** How a windowed aggregate folds and keeps; the same for all kinds of windows. */
  def foldOf(name: String, parents: JList[Integer], store: String, initial: Column, step: Column, merge: Column, typeJson: String,
      result: Column): ops.windows.Fold = {
    val in = input(name, parents)
    val t = RowType(DataType.fromJson(typeJson))
    val two = Seq(Bind.row("key", in.key), Bind.row("value", t), Bind.plain("timestamp", LongType), Bind.row("aggregate", t))
    val merging = if (merge == null) null else Bind(spark, two, merge, Some(t.dataType))
    ops.windows.Fold(store, in.key, start(initial, t), fold(in, step, t), merging, show(result, t))
  }

  def emission(sendOld: Boolean, onClose: Boolean, all: Boolean, skipNulls: Boolean): ops.windows.Emission =
    ops.windows.Emission(sendOld, onClose, all, skipNulls)

  def timeWindows(id: Int, name: String, stage: Int, parents: JList[Integer], kind: String, retention: Long, f: ops.windows.Fold, e: ops.windows.Emission,
      size: Long, advance: Long, grace: Long, begin: Long): Unit = {
    windows(stage, kind, f, Groups(Groups.Window, retention, size, e.onClose))
    addWindows(id, name, stage, parents, f, new ops.windows.TimeWindowAggregate(id, name, f, e, size, advance, grace, begin))
  }

  def slidingWindows(id: Int, name: String, stage: Int, parents: JList[Integer], kind: String, retention: Long, f: ops.windows.Fold, e: ops.windows.Emission,
      difference: Long, grace: Long): Unit = {
    windows(stage, kind, f, Groups(Groups.Window, retention, difference, e.onClose))
    addWindows(id, name, stage, parents, f, new ops.windows.SlidingWindowAggregate(id, name, f, e, difference, grace))
  }

  def sessionWindows(id: Int, name: String, stage: Int, parents: JList[Integer], kind: String, retention: Long, f: ops.windows.Fold, e: ops.windows.Emission,
      gap: Long, grace: Long): Unit = {
    windows(stage, kind, f, Groups(Groups.Session, retention, 0L, e.onClose))
    addWindows(id, name, stage, parents, f, new ops.windows.SessionWindowAggregate(id, name, f, e, gap, grace))
  }

  private def windows(stage: Int, kind: String, f: ops.windows.Fold, form: Groups): Unit =
    define(stage, StoreDef(f.store, kind, f.key, f.kept, Some(form)))

  private def addWindows(id: Int, name: String, stage: Int, parents: JList[Integer], f: ops.windows.Fold, p: ops.windows.WindowAggregate): Unit = {
    val value = if (f.result == null) f.kept else f.result.result
    add(id, stage, p, WindowKeys.typeOf(f.key), value, isTable = true, ids(parents))
  }

  def suppress(id: Int, name: String, stage: Int, parents: JList[Integer], store: String, kind: String, untilClose: Boolean, wait: Long,
      maxRecords: Long, maxBytes: Long, stopWhenFull: Boolean, isSession: Boolean): Unit = {
    val in = input(name, parents)
    define(stage, StoreDef(store, kind, in.key, ops.windows.Suppress.keptType(in.value), Some(Groups(Groups.Items, Groups.Forever, timed = true))))
    val bounds = ops.windows.Bounds(maxRecords, maxBytes, stopWhenFull)
    val p = new ops.windows.Suppress(id, name, store, in.key, in.value, untilClose, wait, bounds, isSession,
      view(ids(parents).head, stage))
    add(id, stage, p, in.key, in.value, isTable = true, ids(parents))
  }

  def joinBuffer(id: Int, name: String, stage: Int, parents: JList[Integer], store: String, kind: String, retention: Long): Unit = {
    val in = input(name, parents)
    define(stage, StoreDef(store, kind, in.key, in.value, Some(Groups(Groups.Items, retention))))
    add(id, stage, new ops.joins.JoinBuffer(id, name, store), in.key, in.value, isTable = false, ids(parents))
  }

  def joinSpan(before: Long, after: Long, grace: Long): ops.joins.JoinSpan = ops.joins.JoinSpan(before, after, grace)

  /** `buffer` is the node that keeps the other side's records. */
  def streamJoin(id: Int, name: String, stage: Int, parents: JList[Integer], isLeft: Boolean, isOuter: Boolean, buffer: Int, other: String,
      unmatched: String, kind: String, clock: String, span: ops.joins.JoinSpan, joiner: Column, dropLate: Boolean, waitForGrace: Boolean): Unit = {
    val in = input(name, parents)
    val value = made(buffer).value
    val (l, r) = if (isLeft) (in.value, value) else (value, in.value)
    val join = bindJoiner(in.key, l, r, joiner)
    if (unmatched != null) {
      define(stage, StoreDef(unmatched, kind, in.key, RowType(BinaryType), Some(Groups(Groups.Items, Groups.Forever, timed = true))))
    }
    val p = new ops.joins.StreamJoin(id, name, isLeft, isOuter, other, unmatched, clock, span, join, in.key, in.value.fields, value.fields,
      dropLate, waitForGrace)
    add(id, stage, p, in.key, join.result, isTable = false, ids(parents))
  }

  def streamSelfJoin(id: Int, name: String, stage: Int, parents: JList[Integer], store: String, span: ops.joins.JoinSpan, joiner: Column): Unit = {
    val in = input(name, parents)
    val join = bindJoiner(in.key, in.value, in.value, joiner)
    add(id, stage, new ops.joins.StreamSelfJoin(id, name, store, span, join, in.value.fields), in.key, join.result, isTable = false, ids(parents))
  }
}
