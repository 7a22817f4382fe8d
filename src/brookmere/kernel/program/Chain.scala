package brookmere.kernel.program

import brookmere.kernel.core.{Settings, Task}
import brookmere.kernel.rows.RowBuffer
import brookmere.kernel.state.{Kept, Times}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Runs stages one after the other, on one task at a time: what leaves a stage enters the next. The caller takes
 * the rows in `out` before every further call.
 */
final class Chain(val stages: Array[Stage], work: Stage => StageWork) {
  private val works = stages.map(work)
  private val counts = new Array[Long](stages.length)
  private var tasks: Array[Task] = null
  private var ended = 0

  /** Switches to another task, which has one part for every stage. */
  def attach(tasks: Array[Task]): Unit = {
    this.tasks = tasks
    ended = 0
    var i = 0
    while (i < works.length) { works(i).attach(tasks(i)); i += 1 }
  }

  /** What leaves the last stage. */
  def out: RowBuffer = tasks(tasks.length - 1).out

  /** What is done before the first row of a batch, step by step; later stages first, as they receive rows of others. */
  def earlier(): Iterator[Unit] = works.indices.reverseIterator.flatMap { i =>
    val steps = works(i).earlier()
    new Iterator[Unit] {
      override def hasNext: Boolean = steps.hasNext
      override def next(): Unit = { tasks(i).out.clear(); steps.next() }
    }
  }

  /** Passes a row to the first stage. */
  def accept(row: UnsafeRow): Unit = enter(0, row)

  private def enter(i: Int, row: UnsafeRow): Unit = {
    counts(i) += 1
    tasks(i).out.clear()
    works(i).accept(tasks(i), row)
  }

  /** Passes on a row that waits between two stages, the furthest one first; false if none waits. */
  def advance(): Boolean = {
    var i = works.length - 1
    while (i > 0) {
      val before = tasks(i - 1).out
      if (!before.isEmpty) { enter(i, before.pull()); return true }
      i -= 1
    }
    false
  }

  /** Ends the batch of the next stage; false if all have ended. */
  def end(): Boolean = ended < works.length && {
    tasks(ended).out.clear()
    works(ended).endBatch()
    ended += 1
    true
  }

  /** Adds the counts of the nodes to `sums` and resets them. */
  def collect(sums: Array[Long]): Unit = works.foreach(_.collect(sums))

  /** How many rows have entered each stage since the last call. */
  def rowCounts(): Array[Long] = {
    val c = counts.clone()
    java.util.Arrays.fill(counts, 0L)
    c
  }

  def close(): Unit = works.foreach(_.close())
}

object Chain {
  /** The parts of a task, one for every stage; they share stores and clocks. */
  def tasks(stages: Array[Stage], number: Int, settings: Settings, slots: Array[Int],
      stores: Map[String, Kept] = Map.empty, times: Times = null): Array[Task] =
    stages.indices.map(i => new Task(stages(i).number, number, settings, slots, stores, times, i)).toArray
}
