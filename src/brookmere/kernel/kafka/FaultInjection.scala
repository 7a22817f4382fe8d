package brookmere.kernel.kafka

import java.util.Random
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.TaskContext
import org.slf4j.LoggerFactory

/** A failure that a test asked for. */
final class InjectedFault(point: String) extends RuntimeException(s"a test lets this task fail at the point '$point'")

/**
 * For the tests of exactly-once, which must end or disturb this process between two certain steps of a batch: no signal
 * from outside hits them often enough. The system property `brookmere.halts` says what happens, and without it nothing does:
 * `halt:committed:3` ends the process when it passes the point `committed` for the third time, as kill -9 would,
 * and `fail:7:0.1` lets tasks fail at every tenth point and with every thousandth record, by random numbers that begin with 7.
 */
object FaultInjection {
  private val log = LoggerFactory.getLogger("brookmere.kafka")
  private val plan: String => Unit = Option(System.getProperty("brookmere.halts")).map(_.split(":", -1)) match {
    case None => null
    case Some(Array("halt", point, times)) => halting(point, times.toInt)
    case Some(Array("fail", seed, chance)) => failing(new Random(seed.toLong), chance.toDouble)
    case Some(other) => throw new IllegalArgumentException(s"brookmere.halts is '${other.mkString(":")}'")
  }

  def at(point: String): Unit = if (plan != null) plan(point)

  private def halting(where: String, times: Int): String => Unit = {
    val passed = new AtomicInteger()
    point => if (point == where && passed.incrementAndGet() == times) Runtime.getRuntime.halt(137)
  }

  private def failing(dice: Random, chance: Double): String => Unit = point =>
    // Only tasks are tried again. Most points are those of single records.
    if (TaskContext.get != null && dice.nextDouble() < (if (point == "sending") chance / 100 else chance)) {
      log.warn(s"A test lets a task fail at the point '$point'")
      throw new InjectedFault(point)
    }
}
