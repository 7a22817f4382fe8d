package org.apache.spark.sql.brookmere

import java.util.concurrent.ConcurrentHashMap
import java.util.{HashMap => JMap}

import brookmere.kernel.core._
import brookmere.kernel.program.{Chain, Program, SourceChain, StageWork}
import brookmere.kernel.python.workers.{PlacePort, Workers}
import brookmere.kernel.rows.RawLayout
import brookmere.kernel.state._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.streaming._

/** What a query counts: records per node, time per stage; and the latest time of each topic's records. */
final class QueryStats(val counters: Sums, val times: Array[Sums], val latest: Latest) extends Serializable

/** Runs the first chain on the rows of a Spark partition. */
final class SourceIterator(in: Iterator[InternalRow], program: Program, stats: QueryStats)
    extends Iterator[InternalRow] {
  private lazy val port = PlacePort.ofSources(program.workers)
  private val chain = new SourceChain(program, stage => StageWork.of(stage, program.settings, port))
  private val rows = in.map(unsafe)
  private var closed = false

  override def hasNext: Boolean = {
    while (!closed && chain.isEmpty) if (!chain.step(rows)) close()
    !closed
  }

  override def next(): InternalRow = chain.out.pull()

  private lazy val pack = UnsafeProjection.create(RawLayout.schema)
  private def unsafe(row: InternalRow): UnsafeRow = row match {
    case u: UnsafeRow => u
    case other => pack(other)
  }

  private def close(): Unit = {
    closed = true
    val sums = new Array[Long](program.nodeCount * Counters.Kinds)
    chain.collect(sums)
    stats.counters.add(sums)
    stats.latest.add(chain.latestTimes)
    chain.rowCounts().zipWithIndex.foreach { case (n, stage) => stats.times(stage).add(Array(0L, 0L, n)) }
    chain.close()
    if (program.chains(0).exists(_.python != null)) port.leave(Workers.NoVersion)
  }
}

/** A chain of stages inside transformWithState, after an exchange: one call per task and batch. */
final class StageProcessor(program: Program, number: Int, stats: QueryStats, before: StateMigration, pieces: Int)
    extends StatefulProcessor[Int, InternalRow, InternalRow] {
  @transient private var backend: Backend = _
  @transient private var state: StateStore = _
  @transient private var chain: Chain = _
  @transient private var caches: JMap[String, AnyRef] = _
  @transient private var place: String = _
  @transient private var port: PlacePort = _
  private def stages = program.chains(number)
  private def families: Seq[Family] = stages.toSeq.flatMap(_.stores).flatMap(d => Family.of(d)) :+ Family.task

  override def init(mode: OutputMode, time: TimeMode): Unit =
    Internals.openState(getHandle, families).foreach { store =>
      state = store
      backend = new SparkBackend(store)
      if (before != null && store.version == 0) before.fill(program, number, store, pieces)
      val run = getHandle.getQueryInfo().getRunId.toString
      place = Caches.place(run, store.id.operatorId, store.id.partitionId)
      if (stages.exists(_.python != null)) port = new PlacePort(run, place, store.version, program.workers)
      chain = new Chain(stages, stage => StageWork.of(stage, program.settings, port))
      caches = Caches.take(place, store.version)
    }

  override def handleInputRows(slot: Int, rows: Iterator[InternalRow], timers: TimerValues): Iterator[InternalRow] = {
    val task = program.slots.indexOf(slot)
    val times = new Times(backend, task)
    val stores = Store.open(stages.flatMap(_.stores), backend, task, times, caches, program.settings.limits)
    stores.values.foreach(_.batch = state.version.toInt)
    val parts = Chain.tasks(stages, task, program.settings, program.slots, stores, times)
    chain.attach(parts)
    new Iterator[InternalRow] {
      private var closed = false
      private val start = StageTimes.now
      private val earlier = chain.earlier()
      private val out = chain.out

      override def hasNext: Boolean = {
        while (out.isEmpty && !closed) step()
        !out.isEmpty
      }
      override def next(): InternalRow = out.pull()

      private def step(): Unit =
        if (chain.advance()) ()
        else if (earlier.hasNext) earlier.next()
        else if (rows.hasNext) chain.accept(rows.next().asInstanceOf[UnsafeRow])
        else if (!chain.end()) finish()

      private def finish(): Unit = {
        closed = true
        val done = StageTimes.now
        parts.head.flush()
        val sums = new Array[Long](program.nodeCount * Counters.Kinds)
        chain.collect(sums)
        stats.counters.add(sums)
        // The time of a chain is counted for its first stage: measuring each stage would cost more than the work.
        val counts = chain.rowCounts()
        stats.times(stages.head.number).add(Array(done - start, StageTimes.now - done, counts.head))
        for (i <- 1 until stages.length) stats.times(stages(i).number).add(Array(0L, 0L, counts(i)))
      }
    }
  }

  /** Called at the end of a partition, with or without rows. */
  override def close(): Unit = if (place != null) {
    chain.close()
    Caches.leave(place, state.version + 1, caches)
    if (port != null) port.leave(state.version + 1)
  }
}

/** Spark's state store as a backend. */
final class SparkBackend(store: StateStore) extends Backend {
  override def get(family: String, key: UnsafeRow): UnsafeRow = store.get(key, family)
  override def put(family: String, key: UnsafeRow, value: UnsafeRow): Unit = store.put(key, value, family)
  override def remove(family: String, key: UnsafeRow): Unit = store.remove(key, family)
  override def rowsOf(family: String, prefix: UnsafeRow): Iterator[(UnsafeRow, UnsafeRow)] =
    store.prefixScan(prefix, family).map(p => (p.key, p.value))
  override def rows(family: String): Iterator[(UnsafeRow, UnsafeRow)] =
    store.iterator(family).map(p => (p.key, p.value))
}

/**
 * What the previous batch has left for the same partition of the state. It is used only if the version of the state is
 * the one it was left with, so a failed or repeated attempt never finds it.
 */
object Caches {
  private final class Left(val version: Long, val caches: JMap[String, AnyRef])
  private val left = new ConcurrentHashMap[String, Left]()

  def place(run: String, operator: Long, partition: Int): String = s"$run/$operator/$partition"

  def take(place: String, version: Long): JMap[String, AnyRef] = {
    val l = left.remove(place)
    if (l != null && l.version == version) l.caches else new JMap[String, AnyRef]()
  }

  def leave(place: String, version: Long, caches: JMap[String, AnyRef]): Unit =
    left.put(place, new Left(version, caches))

  /** Forgets what a stopped query has left. */
  def forget(run: String): Unit = left.keySet.removeIf(_.startsWith(run + "/"))
}
