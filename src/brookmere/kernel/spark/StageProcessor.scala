package org.apache.spark.sql.brookmere

import java.util.concurrent.ConcurrentHashMap
import java.util.{HashMap => JMap}

import brookmere.kernel.core._
import brookmere.kernel.program.{Program, SourceRunner, StageRunner}
import brookmere.kernel.rows.RawLayout
import brookmere.kernel.state._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.streaming._

/** What a query counts: records per node, time per stage; and the latest time of each topic's records. */
final class QueryStats(val counters: Sums, val times: Array[Sums], val latest: Latest) extends Serializable

/** Stage 0 over the rows of a Spark partition. */
final class SourceIterator(in: Iterator[InternalRow], program: Program, stats: QueryStats) extends Iterator[InternalRow] {
  private val runner = new SourceRunner(program)
  private var task: Task = null
  private var rows = 0L
  private var closed = false
  private var ending: Iterator[Task] = null

  override def hasNext: Boolean = {
    while (task == null || task.out.isEmpty) {
      if (ending == null && in.hasNext) {
        task = runner.accept(unsafe(in.next()))
        rows += 1
      } else {
        if (ending == null) ending = runner.endBatch()
        if (!ending.hasNext) { close(); return false }
        task = ending.next()
      }
    }
    true
  }

  override def next(): InternalRow = task.out.pull()

  private lazy val pack = UnsafeProjection.create(RawLayout.schema)
  private def unsafe(row: InternalRow): UnsafeRow = row match {
    case u: UnsafeRow => u
    case other => pack(other)
  }

  private def close(): Unit = if (!closed) {
    closed = true
    val sums = new Array[Long](program.nodeCount * Counters.Kinds)
    runner.collect(sums)
    stats.counters.add(sums)
    stats.latest.add(runner.latestTimes)
    stats.times(0).add(Array(0L, 0L, rows))
  }
}

/** A stage n >= 1 inside transformWithState: one call per task and batch. */
final class StageProcessor(program: Program, number: Int, stats: QueryStats, before: Takeover, pieces: Int) extends StatefulProcessor[Int, InternalRow, InternalRow] {
  @transient private var backend: Backend = _
  @transient private var state: StateStore = _
  @transient private var runner: StageRunner = _
  @transient private var caches: JMap[String, AnyRef] = _
  @transient private var place: String = _
  private def stage = program.stages(number)
  private def families: Seq[Family] = stage.stores.toSeq.flatMap(d => Family.of(d)) :+ Family.task

  override def init(mode: OutputMode, time: TimeMode): Unit =
    Internals.openState(getHandle, families).foreach { store =>
      state = store
      backend = new SparkBackend(store)
      if (before != null && store.version == 0) before.fill(program, stage, store, pieces)
      runner = new StageRunner(stage)
      place = Caches.place(getHandle.getQueryInfo().getRunId.toString, store.id.operatorId, store.id.partitionId)
      caches = Caches.take(place, store.version)
    }

  override def handleInputRows(slot: Int, rows: Iterator[InternalRow], timers: TimerValues): Iterator[InternalRow] = {
    val number = program.slots.indexOf(slot)
    val times = new Times(backend, number)
    val stores = Store.open(stage.stores, backend, number, times, caches, program.settings.limits)
    stores.values.foreach(_.batch = state.version.toInt)
    val task = new Task(this.number, number, program.settings, program.slots, stores, times)
    runner.attach(task)
    new Iterator[InternalRow] {
      private var ended = false
      private var closed = false
      private var count = 0L
      private val start = StageTimes.now
      private val earlier = runner.earlier()

      override def hasNext: Boolean = {
        while (task.out.isEmpty && !closed) step()
        !task.out.isEmpty
      }
      override def next(): InternalRow = task.out.pull()

      private def step(): Unit = {
        task.out.clear()
        if (earlier.hasNext) earlier.next()
        else if (!ended) {
          if (rows.hasNext) { count += 1; runner.accept(task, rows.next().asInstanceOf[UnsafeRow]) }
          else { ended = true; runner.endBatch() }
        } else {
          closed = true
          val done = StageTimes.now
          task.flush()
          val sums = new Array[Long](program.nodeCount * Counters.Kinds)
          runner.collect(sums)
          stats.counters.add(sums)
          stats.times(StageProcessor.this.number).add(Array(done - start, StageTimes.now - done, count))
        }
      }
    }
  }

  /** Called at the end of a partition, with or without rows. */
  override def close(): Unit = if (place != null) Caches.leave(place, state.version + 1, caches)
}

/** Spark's state store as a backend. */
final class SparkBackend(store: StateStore) extends Backend {
  override def get(family: String, key: UnsafeRow): UnsafeRow = store.get(key, family)
  override def put(family: String, key: UnsafeRow, value: UnsafeRow): Unit = store.put(key, value, family)
  override def remove(family: String, key: UnsafeRow): Unit = store.remove(key, family)
  override def rowsOf(family: String, prefix: UnsafeRow): Iterator[(UnsafeRow, UnsafeRow)] =
    store.prefixScan(prefix, family).map(p => (p.key, p.value))
  override def rows(family: String): Iterator[(UnsafeRow, UnsafeRow)] = store.iterator(family).map(p => (p.key, p.value))
}

/**
 * What the batch before left behind for the same piece of state. It is used only if the state's
 * version is the one it was left with, so a failed or repeated attempt never finds it.
 */
object Caches {
  private final class Left(val version: Long, val caches: JMap[String, AnyRef])
  private val left = new ConcurrentHashMap[String, Left]()

  def place(run: String, operator: Long, partition: Int): String = s"$run/$operator/$partition"

  def take(place: String, version: Long): JMap[String, AnyRef] = {
    val l = left.remove(place)
    if (l != null && l.version == version) l.caches else new JMap[String, AnyRef]()
  }

  def leave(place: String, version: Long, caches: JMap[String, AnyRef]): Unit = left.put(place, new Left(version, caches))

  /** Forgets what a stopped query left. */
  def forget(run: String): Unit = left.keySet.removeIf(_.startsWith(run + "/"))
}
