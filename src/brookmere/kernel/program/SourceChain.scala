package brookmere.kernel.program

import java.util.TreeMap

import brookmere.kernel.core.Task
import brookmere.kernel.rows.RowBuffer

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Feeds raw records to the first chain: to stage 0, and its results to the other stages without state. */
final class SourceChain(program: Program, work: Stage => StageWork) {
  private val runner = new SourceRunner(program)
  private val stages = program.chains(0).tail
  private val chain = if (stages.isEmpty) null else new Chain(stages, work)
  private val tasks = new TreeMap[Integer, Array[Task]]()
  private var attached = -1
  private var source: Task = null
  private var ending: Iterator[Task] = null
  private var open: java.util.Iterator[Integer] = null
  private var current = -1
  private var rows = 0L

  /** What leaves the chain; null before the first step. */
  def out: RowBuffer =
    if (chain == null) { if (source == null) null else source.out }
    else if (attached < 0) null
    else chain.out

  def isEmpty: Boolean = { val o = out; o == null || o.isEmpty }

  /** Processes the next record of a batch once the rows in `out` were taken; false at the end of the batch. */
  def step(in: Iterator[UnsafeRow]): Boolean =
    if (attached >= 0 && chain.advance()) true
    else if (chain != null && source != null && !source.out.isEmpty) {
      turn(source.number)
      chain.accept(source.out.pull())
      true
    } else if (read(in) || endLater()) true
    else {
      reset()
      false
    }

  /** Reads a record, or sends what stage 0 holds back. */
  private def read(in: Iterator[UnsafeRow]): Boolean =
    if (ending == null && in.hasNext) {
      source = runner.accept(in.next())
      rows += 1
      true
    } else {
      if (ending == null) ending = runner.endBatch()
      ending.hasNext && { source = ending.next(); true }
    }

  private def turn(number: Int): Unit = if (attached != number) {
    attached = number
    chain.attach(tasks.computeIfAbsent(number, n => Chain.tasks(stages, n, program.settings, program.slots)))
  }

  /** Ends the batch of the stages after stage 0, task by task. */
  private def endLater(): Boolean = {
    if (open == null) open = tasks.keySet.iterator
    if (current < 0 && open.hasNext) current = open.next()
    current >= 0 && {
      turn(current)
      if (!chain.end()) current = -1
      true
    }
  }

  /** Prepares for the next batch. */
  private def reset(): Unit = {
    ending = null
    open = null
    source = null
    attached = -1
  }

  def collect(sums: Array[Long]): Unit = {
    runner.collect(sums)
    if (chain != null) chain.collect(sums)
  }

  /** How many rows have entered each stage since the last call. */
  def rowCounts(): Array[Long] = {
    val counts = rows +: (if (chain == null) Array.empty[Long] else chain.rowCounts())
    rows = 0L
    counts
  }

  def latestTimes: Array[Long] = runner.latestTimes

  def close(): Unit = if (chain != null) chain.close()
}
