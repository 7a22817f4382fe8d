package brookmere.kernel.python.workers

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

/**
 * The worker processes of this JVM. A place is a run of a query, an operator and a partition; its worker waits there
 * from one batch to the next and keeps its state.
 */
object Workers {
  val NoVersion: Long = -1L
  private val IdleMs = 10 * 60 * 1000L
  private val idle = new ConcurrentHashMap[String, Worker]()
  private val all = ConcurrentHashMap.newKeySet[Worker]()
  Runtime.getRuntime.addShutdownHook(new Thread(() => all.forEach(w => w.destroy()), "brookmere-workers"))

  /** The worker of a place for one attempt of its task. Its state is valid if it was left with the same version. */
  def take(run: String, place: String, version: Long, env: WorkerEnv): Worker = {
    if (!env.isLocal) sweep()
    val left = idle.remove(place)
    if (left != null && left.isAlive) {
      if (left.version != version) left.forgetTasks()
      left
    } else {
      if (left != null) destroy(left)
      val worker = new Worker(env.begin(), run)
      all.add(worker)
      worker
    }
  }

  /** Updates the version of the state at a place where no worker was needed. */
  def renew(place: String, version: Long, next: Long): Unit =
    idle.computeIfPresent(place, (_, w) => { if (w.version == version) w.version = next; w })

  /** Returns a worker whose task has succeeded; its state matches `version` of the state. */
  def leave(place: String, version: Long, worker: Worker): Unit = {
    worker.version = version
    worker.since = System.nanoTime
    // The run may have been forgotten since.
    val before = if (all.contains(worker)) idle.put(place, worker) else worker
    if (before != null) destroy(before)
  }

  /** Kills a worker whose task has failed. */
  def destroy(worker: Worker): Unit = {
    all.remove(worker)
    worker.destroy()
  }

  /** Ends the workers of a query that has stopped, also those that are still working. */
  def forget(run: String): Unit = {
    val waiting = idle.asScala.filter(_._2.run == run).keys.toSeq.flatMap(place => Option(idle.remove(place)))
    waiting.foreach(all.remove(_))
    waiting.foreach(_.askToEnd())
    waiting.foreach(_.end())
    all.asScala.filter(_.run == run).foreach(destroy)
  }

  /** An executor does not learn that a query has stopped: workers that wait too long are ended. */
  private def sweep(): Unit = {
    val now = System.nanoTime
    idle.asScala.foreach { case (place, w) =>
      if (now - w.since > IdleMs * 1000000L && idle.remove(place, w)) destroy(w)
    }
  }

  /** The live processes of a run, for tests. */
  def pids(run: String): java.util.List[java.lang.Long] =
    all.asScala.toSeq.filter(w => w.run == run && w.isAlive).map(w => Long.box(w.pid))
      .sorted(Ordering.by[java.lang.Long, Long](_.longValue)).asJava
}
