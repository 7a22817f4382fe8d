package brookmere.kernel.program

import brookmere.kernel.core.{Settings, Task}
import brookmere.kernel.python.folds.FoldRunner
import brookmere.kernel.python.stage.PythonRunner
import brookmere.kernel.python.workers.Port

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Runs a stage over the rows of a task, one task after the other. Its results are in `task.out`. */
trait StageWork {
  /** Switches to another task; before the first exchange tasks alternate within a batch. */
  def attach(task: Task): Unit

  /** What is done before the first row of a batch, step by step. */
  def earlier(): Iterator[Unit]

  /**
   * Processes a row, or passes it on if it is meant for a later stage or the sink. Rows may also be kept
   * until others have come; what leaves is in their order.
   */
  def accept(task: Task, row: UnsafeRow): Unit

  /** Sends what is held back until the end of a batch. */
  def endBatch(): Unit

  /** Adds the counts of the nodes to `sums` and resets them. */
  def collect(sums: Array[Long]): Unit

  /** Called when the work is over, also after a failure. */
  def close(): Unit = {}
}

object StageWork {
  /** What runs a stage: here, or in a worker that `port` leads to. */
  def of(stage: Stage, settings: Settings, port: => Port): StageWork =
    if (stage.python == null) new StageRunner(stage)
    else if (stage.python.folds) new FoldRunner(stage, port)
    else new PythonRunner(stage, settings, port)
}
