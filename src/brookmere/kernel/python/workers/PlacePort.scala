package brookmere.kernel.python.workers

import org.apache.spark.TaskContext

/**
 * The port to the worker of a place, for one attempt of the current Spark task. The worker is taken when it is first
 * needed: a partition without rows needs none. If the task ends before `leave`, the worker ends with it.
 */
final class PlacePort(run: String, place: String, version: Long, env: WorkerEnv) extends Port {
  private var worker: Worker = null
  private var isLeft = false

  private def taken: Worker = {
    if (worker == null) {
      worker = Workers.take(run, place, version, env)
      val w = worker
      TaskContext.get().addTaskCompletionListener[Unit](_ => if (!isLeft) Workers.destroy(w))
    }
    worker
  }

  override def introduce(stage: Int): Boolean = taken.introduce(stage)
  override def isFresh(stage: Int, task: Int): Boolean = taken.isFresh(stage, task)
  override def send(kind: Char, payload: Array[Byte], length: Int): Unit = taken.send(kind, payload, length)
  override def receive(): Message = taken.receive()

  /** Returns the worker after the last row; its state matches `next`, the new version of the state. */
  def leave(next: Long): Unit = {
    isLeft = true
    if (worker == null) Workers.renew(place, version, next) else Workers.leave(place, next, worker)
  }
}

object PlacePort {
  /** The port for a chain without state: its worker belongs to the run of the query and the Spark partition. */
  def ofSources(env: WorkerEnv): PlacePort = {
    val task = TaskContext.get()
    val run = String.valueOf(task.getLocalProperty("spark.jobGroup.id"))
    new PlacePort(run, s"$run/sources/${task.partitionId()}", Workers.NoVersion, env)
  }
}
