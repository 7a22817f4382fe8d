package brookmere.kernel.local

import java.util.{ArrayList, HashMap => JMap}

import brookmere.kernel.core._
import brookmere.kernel.expr.Compile
import brookmere.kernel.program._
import brookmere.kernel.rows._
import brookmere.kernel.state._

import org.apache.spark.sql.brookmere.PythonValues
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Runs a program in memory, without a query: the engine of the test driver. The same processors,
 * stores and order of arrival as in a query; a call of `run` is a micro-batch.
 */
final class LocalRunner(program: Program, routed: java.util.Set[Integer]) {
  private val (sources, runners) = Compile.interpreting {
    (new SourceRunner(program), program.stages.map(s => if (s.number == 0) null else new StageRunner(s)))
  }
  private val backends = program.stages.map(_ => new LocalBackend)
  private val caches = program.stages.map(_ => new JMap[String, AnyRef]())
  private val tasks = new JMap[String, Task]()
  private val sums = new Array[Long](program.nodeCount * Counters.Kinds)
  private val routes: Set[Int] = { val b = Set.newBuilder[Int]; routed.forEach(n => b += n.intValue); b.result() }
  private var batch = 0

  /** Feeds records as one batch and returns what came out, in order of arrival. */
  def run(records: Array[Byte]): Array[Byte] = {
    batch += 1
    tasks.clear()
    var rows = new ArrayList[UnsafeRow]()
    Inputs.read(records).foreach(raw => drain(sources.accept(raw), rows))
    sources.endBatch().foreach(task => drain(task, rows))
    var n = 1
    while (n < program.stages.length) { rows = stage(n, rows); n += 1 }
    val sorted = rows.toArray(new Array[UnsafeRow](0))
    java.util.Arrays.sort(sorted, Layout.order)
    val out = new Outputs(routes)
    sorted.foreach(r => out.add(r, program.slots.indexOf(r.getInt(Layout.Task))))
    out.result()
  }

  private def stage(n: Int, rows: ArrayList[UnsafeRow]): ArrayList[UnsafeRow] = {
    val out = new ArrayList[UnsafeRow]()
    val runner = runners(n)
    var task: Task = null
    def finish(): Unit = if (task != null) {
      task.out.clear()
      runner.endBatch()
      drain(task, out)
      task.flush()
    }
    val i = rows.iterator
    val merged = new TaskMerge(new Iterator[InternalRow] {
      override def hasNext: Boolean = i.hasNext
      override def next(): InternalRow = i.next()
    })
    merged.foreach { r =>
      val row = r.asInstanceOf[UnsafeRow]
      val number = program.slots.indexOf(row.getInt(Layout.Task))
      if (task == null || task.number != number) {
        finish()
        task = taskOf(n, number)
        runner.attach(task)
      }
      task.out.clear()
      runner.accept(task, row)
      drain(task, out)
    }
    finish()
    out
  }

  private def drain(task: Task, into: ArrayList[UnsafeRow]): Unit =
    while (!task.out.isEmpty) into.add(task.out.pull().copy())

  /** A task as a batch finds it: with its stores opened on the state, and its stream time. */
  private def taskOf(n: Int, number: Int): Task = {
    val task = tasks.computeIfAbsent(s"$n/$number", _ => newTask(n, number))
    task.allStores.foreach(_.batch = batch)
    task
  }

  private def newTask(n: Int, number: Int): Task = {
    val times = new Times(backends(n), number)
    val stores = Store.open(program.stages(n).stores, backends(n), number, times, caches(n), program.settings.limits)
    new Task(n, number, program.settings, program.slots, stores, times)
  }

  /** Forgets everything that is not in the state, as a restart does. */
  def restart(): Unit = { tasks.clear(); caches.foreach(_.clear()) }

  /** The rows of a store, of all tasks: pickled keys, pickled values, and the times. */
  def store(name: String): StoreRows = {
    val found = for {
      stage <- program.stages.toSeq
      d <- stage.stores.toSeq if d.name == name
      number <- program.slots.indices
    } yield (d, if (d.groups.isEmpty) taskOf(stage.number, number).store(name).all().map(StoreRow(_)).toSeq
      else { val s = taskOf(stage.number, number).groups(name); StoreRow.of(d, s.rows()) })
    if (found.isEmpty) null
    else new StoreRows(found.head._1, found.flatMap(_._2))
  }

  def counters(): Array[Long] = {
    sources.collect(sums)
    runners.foreach(r => if (r != null) r.collect(sums))
    sums
  }

  def streamTime(n: Int, number: Int): Long = taskOf(n, number).streamTime
}

