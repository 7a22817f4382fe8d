package brookmere.kernel.program

import brookmere.kernel.expr.RowType
import brookmere.kernel.ops.windows._
import brookmere.kernel.rows.WindowKeys
import brookmere.kernel.state.{Groups, StoreDef}

import org.apache.spark.sql.Column
import org.apache.spark.sql.brookmere.Bind
import org.apache.spark.sql.types._

/** Adds windowed aggregates, suppression, and the removal of duplicates within a span of time. */
private[program] trait WindowNodes { this: ProgramBuilder =>
  def timeWindows(
      at: Place,
      store: TimedStoreSpec,
      fold: FoldSpec,
      emission: EmissionSpec,
      windows: TimeWindowSpec): Unit =
    addTimeWindows(at, store, foldOf(at, store, fold), emission, windows)

  def slidingWindows(
      at: Place,
      store: TimedStoreSpec,
      fold: FoldSpec,
      emission: EmissionSpec,
      windows: SlidingWindowSpec): Unit =
    addSlidingWindows(at, store, foldOf(at, store, fold), emission, windows)

  def sessionWindows(
      at: Place,
      store: TimedStoreSpec,
      fold: FoldSpec,
      emission: EmissionSpec,
      windows: SessionWindowSpec): Unit =
    addSessionWindows(at, store, foldOf(at, store, fold), emission, windows)

  def suppress(at: Place, store: StoreSpec, spec: SuppressSpec): Unit = {
    val in = input(at)
    val groups = Groups(Groups.Items, Groups.Forever, timed = true)
    define(at.stage, StoreDef(store.name, store.kind, in.key, Suppress.keptType(in.value), Some(groups)))
    val bounds = Bounds(spec.maxRecords, spec.maxBytes, spec.stopWhenFull)
    val rows = view(at.parentNumbers.head, at.stage)
    val p = new Suppress(at.number, at.name, store.name, in.key, in.value, spec.untilClose, spec.waitMs, bounds,
      spec.isSession, rows)
    add(at, p, in.key, in.value, isTable = true)
  }

  /** Drops records whose key, or whose `by`, occurred less than `within` milliseconds of event time away. */
  def dedupe(at: Place, store: StoreSpec, by: Column, within: Long): Unit = {
    val in = input(at)
    val same = if (by == null) null else bind(in, by)
    val what = if (same == null) in.key else same.result
    // A record may be up to `within` late, and is compared with those that far before and after it.
    val groups = Groups(Groups.Items, 2 * within)
    define(at.stage, StoreDef(store.name, store.kind, what, TableNodes.mark, Some(groups)))
    add(at, new Dedupe(at.number, at.name, store.name, same, within), in.key, in.value, isTable = false)
  }

  // ---- inside ----

  private[program] def addTimeWindows(
      at: Place, store: TimedStoreSpec, f: Fold, emission: EmissionSpec, w: TimeWindowSpec): Unit = {
    val e = emissionOf(emission)
    defineWindows(at, store, f, Groups(Groups.Window, store.retention, w.size, e.onClose))
    addWindows(at, f, new TimeWindowAggregate(at.number, at.name, f, e, w.size, w.advance, w.grace, w.begin))
  }

  private[program] def addSlidingWindows(
      at: Place, store: TimedStoreSpec, f: Fold, emission: EmissionSpec, w: SlidingWindowSpec): Unit = {
    val e = emissionOf(emission)
    defineWindows(at, store, f, Groups(Groups.Window, store.retention, w.difference, e.onClose))
    addWindows(at, f, new SlidingWindowAggregate(at.number, at.name, f, e, w.difference, w.grace))
  }

  private[program] def addSessionWindows(
      at: Place, store: TimedStoreSpec, f: Fold, emission: EmissionSpec, w: SessionWindowSpec): Unit = {
    val e = emissionOf(emission)
    defineWindows(at, store, f, Groups(Groups.Session, store.retention, 0L, e.onClose))
    addWindows(at, f, new SessionWindowAggregate(at.number, at.name, f, e, w.gap, w.grace))
  }

  private def foldOf(at: Place, store: TimedStoreSpec, fold: FoldSpec): Fold = {
    val in = input(at)
    val t = RowType(DataType.fromJson(fold.valueType))
    val time = Bind.plain("timestamp", LongType)
    val two = Seq(Bind.row("key", in.key), Bind.row("value", t), time, Bind.row("aggregate", t))
    val merge = if (fold.merge == null) null else Bind(spark, two, fold.merge, Some(t.dataType))
    Fold(store.name, in.key, start(fold.initial, t), folding(in, fold.step, t), merge, show(fold.result, t))
  }

  private def emissionOf(e: EmissionSpec): Emission = Emission(e.sendOld, e.onClose, e.all, e.skipNulls)

  private def defineWindows(at: Place, store: TimedStoreSpec, f: Fold, form: Groups): Unit =
    define(at.stage, StoreDef(f.store, store.kind, f.key, f.kept, Some(form)))

  private def addWindows(at: Place, f: Fold, p: WindowAggregate): Unit = {
    val value = if (f.result == null) f.kept else f.result.result
    add(at, p, WindowKeys.typeOf(f.key), value, isTable = true)
  }
}
