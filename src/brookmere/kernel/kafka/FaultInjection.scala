package brookmere.kernel.kafka

import java.util.Random
import java.util.concurrent.atomic.AtomicInteger

import org.apache.spark.TaskContext
import org.slf4j.LoggerFactory

/** A failure that a test asked for. */
final class InjectedFault(point: String) extends RuntimeException(s"a test makes this task fail at the point '$point'")

/**
 * Ends or disturbs this process between two given steps of a batch, for the tests of exactly-once: a signal from
 * outside hits such a moment too rarely. The system property `brookmere.halts` says what happens; without it nothing
 * does. `halt:committed:3` ends the process, as kill -9 would, when it passes the point `committed` for the third time.
 * `fail:7:0.1` makes tasks fail at every tenth point and every thousandth record, by random numbers with the seed 7.
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
    // Spark retries tasks only. Most points are passed once per record.
    if (TaskContext.get != null && dice.nextDouble() < (if (point == "sending") chance / 100 else chance)) {
      log.warn(s"A test makes a task fail at the point '$point'")
      throw new InjectedFault(point)
    }
}
