package brookmere.kernel.python.workers

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

/**
 * The worker processes of this JVM. A place is a run of a query, an operator and a partition; its worker waits
 * there from one batch to the next, with what it knows of the state.
 */
object Workers {
  val NoVersion: Long = -1L
  private val IdleMs = 10 * 60 * 1000L
  private val idle = new ConcurrentHashMap[String, Worker]()
  private val all = ConcurrentHashMap.newKeySet[Worker]()
  Runtime.getRuntime.addShutdownHook(new Thread(() => all.forEach(w => w.destroy()), "brookmere-workers"))

  /** The worker of a place for one attempt of its task. What it knows holds if it was left with the same version. */
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

  /** Says that the version of the state at a place where no worker was needed is another one now. */
  def renew(place: String, version: Long, next: Long): Unit =
    idle.computeIfPresent(place, (_, w) => { if (w.version == version) w.version = next; w })

  /** Gives a worker back whose task has gone well; what it knows goes together with `version` of the state. */
  def leave(place: String, version: Long, worker: Worker): Unit = {
    worker.version = version
    worker.since = System.nanoTime
    // A run that was forgotten in the meantime has no use for it.
    val before = if (all.contains(worker)) idle.put(place, worker) else worker
    if (before != null) destroy(before)
  }

  /** Ends a worker whose task has failed. */
  def destroy(worker: Worker): Unit = {
    all.remove(worker)
    worker.destroy()
  }

  /** Ends the workers of a query that has stopped, also those that are still at work. */
  def forget(run: String): Unit = {
    val waiting = idle.asScala.filter(_._2.run == run).keys.toSeq.flatMap(place => Option(idle.remove(place)))
    waiting.foreach(all.remove(_))
    waiting.foreach(_.askToEnd())
    waiting.foreach(_.end())
    all.asScala.filter(_.run == run).foreach(destroy)
  }

  /** On an executor nobody says that a query has stopped: workers that wait too long are ended. */
  private def sweep(): Unit = {
    val now = System.nanoTime
    idle.asScala.foreach { case (place, w) =>
      if (now - w.since > IdleMs * 1000000L && idle.remove(place, w)) destroy(w)
    }
  }

  /** The processes of a run that live, for tests. */
  def pids(run: String): java.util.List[java.lang.Long] =
    all.asScala.toSeq.filter(w => w.run == run && w.isAlive).map(w => Long.box(w.pid)).sorted(Ordering.by[java.lang.Long, Long](_.longValue)).asJava
}
