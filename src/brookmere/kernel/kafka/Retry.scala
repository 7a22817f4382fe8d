package brookmere.kernel.kafka

import java.util.concurrent.{ExecutionException, TimeUnit}

import org.apache.kafka.common.KafkaFuture

/** Retries while brokers restart and leaders change. */
object Retry {
  private val Pause = 500L
  /** How long a broker may take to hear of an existing topic. */
  private val MissingNanos = TimeUnit.SECONDS.toNanos(5)

  /** `topics` are those the request is about, which should exist if `there`; `meanwhile` runs before each retry. */
  def answer[T](place: KafkaPlace, operation: String, topics: Seq[String] = Nil, there: Boolean = false,
      meanwhile: () => Unit = () => ())(ask: => KafkaFuture[T]): T = {
    val began = System.nanoTime
    val deadline = began + TimeUnit.MILLISECONDS.toNanos(place.waitMs)
    var reported = false
    while (true) {
      try {
        val found = ask.get()
        if (reported) Notices.add(place.run, "Kafka answers again.")
        return found
      } catch {
        case e: ExecutionException if Causes.isMissing(e) && there =>
          if (System.nanoTime - began > MissingNanos) throw missing(topics, e)
          Thread.sleep(Pause)
        case e: ExecutionException if Causes.isPassing(e) =>
          if (System.nanoTime > deadline) throw gone(place, operation, e)
          if (!reported) Notices.add(place.run, s"Kafka does not answer ($operation): ${Causes.sentence(e)} " +
            s"Retrying for up to ${place.waitMs / 1000} s.")
          reported = true
          Thread.sleep(Pause)
          meanwhile()
        case e: ExecutionException => throw place.errors.explain(operation, e, topics)
      }
    }
    throw new IllegalStateException
  }

  private def missing(topics: Seq[String], e: Throwable): KafkaStopped = new KafkaStopped(KafkaStopped.Topic,
    s"The topic ${topics.map(t => s"'$t'").mkString(" or ")} does not exist any more. " +
    "Offsets of a topic mean nothing in another one of the same name: create it and reset the application " +
    "with `brookmere reset`, or correct the program.", e)

  def gone(place: KafkaPlace, operation: String, e: Throwable): KafkaStopped =
    new KafkaStopped(KafkaStopped.Unreachable,
      s"Kafka did not answer for ${place.waitMs / 1000} s ($operation). Found: " +
      s"${if (e == null) "no records came." else Causes.sentence(e)} " +
      "No record is lost: restart the application when the brokers are back. task.timeout.ms sets how long it waits " +
      "for them.", e)
}
