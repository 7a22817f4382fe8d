package brookmere.kernel.kafka

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}

import org.slf4j.LoggerFactory

/** Messages for the application's log, collected by the process that runs it. */
object Notices {
  private val log = LoggerFactory.getLogger("brookmere.kafka")
  private val added = new ConcurrentHashMap[String, ConcurrentLinkedQueue[String]]()
  private val Most = 100

  def add(run: String, text: String): Unit = {
    log.warn(text)
    val queue = added.computeIfAbsent(run, _ => new ConcurrentLinkedQueue[String]())
    if (queue.size < Most) queue.add(text)
  }

  /** Returns the messages since the last call, one per line. */
  def take(run: String): String = {
    val queue = added.get(run)
    if (queue == null) ""
    else Iterator.continually(queue.poll()).takeWhile(_ != null).map(_.replace('\n', ' ')).mkString("\n")
  }

  def forget(run: String): Unit = added.remove(run)
}
