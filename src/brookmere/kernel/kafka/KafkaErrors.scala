package brookmere.kernel.kafka

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue, ExecutionException, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.kafka.common.{KafkaException, KafkaFuture}
import org.apache.kafka.common.errors._
import org.slf4j.LoggerFactory

/** A fault of Kafka that stops an application; `kind` says which for Python, and `denied` who may not do what. */
final class KafkaStopped(val kind: String, message: String, cause: Throwable = null, val denied: Denied = null)
    extends RuntimeException(message, cause)

object KafkaStopped {
  /** The batch can be repeated, and will then succeed. */
  val Again = "again"
  val Denied = "denied"
  val Fenced = "fenced"
  val Lost = "lost"
  val Stale = "stale"
  val Topic = "topic"
  val Unreachable = "unreachable"
}

/** `operation` and `resource` are null if the user could not log in. */
final case class Denied(principal: String, operation: String, resource: String)

/** Explains errors of Kafka: who is not allowed to do what. */
final class KafkaErrors(principal: String, application: String) extends Serializable {
  def explained[T](operation: String)(f: => T): T =
    try f catch { case e: KafkaException => throw explain(operation, e) }

  /** `topics` are those that the request was about, for errors that do not name one. */
  def explain(operation: String, e: Throwable, topics: Seq[String] = Nil): Throwable = Causes.of(e) match {
    case t: TopicAuthorizationException =>
      val refused = t.unauthorizedTopics.asScala.toSeq.sorted
      val names = if (refused.isEmpty) topics else refused
      denied(operation, names.map(n => s"topic $n").mkString(", "), names.map(n => s"--topic $n").mkString(" "), e)
    case g: GroupAuthorizationException =>
      denied("Read", s"group ${Option(g.groupId).getOrElse(application)}",
        s"--group $application --resource-pattern-type prefixed", e)
    case _: TransactionalIdAuthorizationException =>
      denied("Write", s"transactional-id $application-*",
        s"--transactional-id $application --resource-pattern-type prefixed", e)
    case _: ClusterAuthorizationException => denied(operation, "cluster", "--cluster", e)
    case a: AuthenticationException => new KafkaStopped(KafkaStopped.Denied,
      s"$principal cannot log in. Found: ${Causes.sentence(a)} Check security.protocol, the sasl.* and the ssl.* " +
      "settings.", e, Denied(principal, null, null))
    case cause => if (e.isInstanceOf[ExecutionException]) cause else e
  }

  private def denied(operation: String, what: String, option: String, e: Throwable): KafkaStopped =
    new KafkaStopped(KafkaStopped.Denied,
      s"Kafka reports: $principal is not allowed the operation $operation on the $what. " +
      s"An administrator grants it with `kafka-acls --add --allow-principal $principal --operation $operation " +
      s"$option`.", e, Denied(principal, operation, what))
}

object Causes {
  def of(e: Throwable): Throwable = e match {
    case x: ExecutionException if x.getCause != null => of(x.getCause)
    case x: java.util.concurrent.CompletionException if x.getCause != null => of(x.getCause)
    // A producer gives the reason why a transaction can only be aborted as the cause.
    case x: KafkaException if x.getClass == classOf[KafkaException] && x.getCause != null => of(x.getCause)
    case x => x
  }

  /** True if waiting may help. Waiting does not create a missing topic. */
  def isPassing(e: Throwable): Boolean = of(e) match {
    case _: AuthenticationException | _: AuthorizationException | _: UnknownTopicOrPartitionException => false
    case _: RetriableException | _: TimeoutException | _: DisconnectException => true
    case _ => false
  }

  def isMissing(e: Throwable): Boolean = of(e).isInstanceOf[UnknownTopicOrPartitionException]

  /** The message as a sentence. */
  def sentence(e: Throwable): String = {
    val said = Option(of(e).getMessage).getOrElse(of(e).getClass.getSimpleName)
    if (said.endsWith(".")) said else said + "."
  }
}

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

/** Retries while brokers restart and leaders change. */
object Patience {
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
