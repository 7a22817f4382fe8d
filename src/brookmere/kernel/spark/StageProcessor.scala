package org.apache.spark.sql.brookmere

import java.util.concurrent.ConcurrentHashMap
import java.util.{HashMap => JMap}

import brookmere.kernel.core._
import brookmere.kernel.program.{Program, SourceRunner, StageRunner}
import brookmere.kernel.rows.{RawLayout, Rows}
import brookmere.kernel.state._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.execution.streaming.state.StateStore
import org.apache.spark.sql.streaming._
import org.apache.spark.unsafe.types.UTF8String

/** What a query counts: records per node, time per stage. */
final class QueryStats(val counters: Sums, val times: Array[Sums]) extends Serializable

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
    stats.times(0).add(Array(0L, 0L, rows))
  }
}

/** A stage n >= 1 inside transformWithState: one call per task and batch. */
final class StageProcessor(program: Program, number: Int, stats: QueryStats) extends StatefulProcessor[Int, InternalRow, InternalRow] {
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
      runner = new StageRunner(stage)
      place = Caches.place(getHandle.getQueryInfo().getRunId.toString, store.id.operatorId, store.id.partitionId)
      caches = Caches.take(place, store.version)
    }

  override def handleInputRows(slot: Int, rows: Iterator[InternalRow], timers: TimerValues): Iterator[InternalRow] = {
    val number = program.slots.indexOf(slot)
    val stores = stage.stores.map(d => d.name -> open(d, number)).toMap
    val task = new Task(this.number, number, program.settings, program.slots, stores)
    val clock = new TaskClock(backend, number)
    clock.load(task)
    runner.attach(task)
    new Iterator[InternalRow] {
      private var ended = false
      private var closed = false
      private var count = 0L
      private val start = StageTimes.now

      override def hasNext: Boolean = {
        while (task.out.isEmpty && !closed) step()
        !task.out.isEmpty
      }
      override def next(): InternalRow = task.out.pull()

      private def step(): Unit = {
        task.out.clear()
        if (!ended) {
          if (rows.hasNext) { count += 1; runner.accept(task, rows.next().asInstanceOf[UnsafeRow]) }
          else { ended = true; runner.endBatch() }
        } else {
          closed = true
          val done = StageTimes.now
          stores.values.foreach(_.flush())
          clock.save(task)
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

  private def open(d: StoreDef, task: Int): Store = {
    val s = Store.open(d, backend, task, caches, program.settings.limits)
    s.batch = state.version.toInt
    s
  }
}

/** The times of a task, kept in the task's state: stream time, and the wall clock where it ticks. */
final class TaskClock(backend: Backend, task: Int) {
  private val rows = new StateRows(task)
  private val writer = new UnsafeRowWriter(1)
  private val found = TaskClock.Names.map(read)

  def load(task: Task): Unit = {
    task.streamTime = found(0)
    task.lastRecord = found(1)
    task.lastTick = found(2)
  }

  def save(task: Task): Unit = {
    write(0, task.streamTime)
    write(1, task.lastRecord)
    write(2, task.lastTick)
  }

  private def key(name: UTF8String): UnsafeRow = {
    writer.resetRowWriter()
    writer.write(0, name)
    rows.key(Rows.bytes(writer.getRow))
  }

  private def read(name: UTF8String): Long = {
    val kept = backend.get(Family.TaskName, key(name))
    if (kept == null) Long.MinValue else StateRows.timeOf(kept)
  }

  private def write(i: Int, now: Long): Unit = if (now != found(i)) {
    val to = key(TaskClock.Names(i))
    writer.resetRowWriter()
    writer.write(0, now)
    backend.put(Family.TaskName, to, rows.value(Rows.bytes(writer.getRow), now))
  }
}

object TaskClock {
  private val Names = Array("stream-time", "last-record", "last-tick").map(n => UTF8String.fromString(n))
}

/** Spark's state store as a backend. */
final class SparkBackend(store: StateStore) extends Backend {
  override def get(family: String, key: UnsafeRow): UnsafeRow = store.get(key, family)
  override def put(family: String, key: UnsafeRow, value: UnsafeRow): Unit = store.put(key, value, family)
  override def remove(family: String, key: UnsafeRow): Unit = store.remove(key, family)
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
