package brookmere.kernel.kafka

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue, ExecutionException, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.kafka.common.{KafkaException, KafkaFuture}
import org.apache.kafka.common.errors._
import org.slf4j.LoggerFactory

/** Something about Kafka that stops an application; `kind` tells Python what it is, and `denied` who may not do what. */
final class KafkaStopped(val kind: String, message: String, cause: Throwable = null, val denied: Denied = null) extends RuntimeException(message, cause)

object KafkaStopped {
  /** The batch can be done again, and will then succeed. */
  val Again = "again"
  val Denied = "denied"
  val Fenced = "fenced"
  val Lost = "lost"
  val Stale = "stale"
  val Topic = "topic"
  val Unreachable = "unreachable"
}

/** `operation` and `resource` are null where the user could not log in. */
final case class Denied(principal: String, operation: String, resource: String)

/** Says in words who may not do what. */
final class Refusals(principal: String, application: String) extends Serializable {
  def explained[T](operation: String)(f: => T): T =
    try f catch { case e: KafkaException => throw explain(operation, e) }

  /** `topics` are those that were asked about, for answers that do not tell. */
  def explain(operation: String, e: Throwable, topics: Seq[String] = Nil): Throwable = Causes.of(e) match {
    case t: TopicAuthorizationException =>
      val told = t.unauthorizedTopics.asScala.toSeq.sorted
      val names = if (told.isEmpty) topics else told
      denied(operation, names.map(n => s"topic $n").mkString(", "), names.map(n => s"--topic $n").mkString(" "), e)
    case g: GroupAuthorizationException =>
      denied("Read", s"group ${Option(g.groupId).getOrElse(application)}", s"--group $application --resource-pattern-type prefixed", e)
    case _: TransactionalIdAuthorizationException =>
      denied("Write", s"transactional-id $application-*", s"--transactional-id $application --resource-pattern-type prefixed", e)
    case _: ClusterAuthorizationException => denied(operation, "cluster", "--cluster", e)
    case a: AuthenticationException => new KafkaStopped(KafkaStopped.Denied,
      s"$principal cannot log in. Found: ${Causes.sentence(a)} Check security.protocol, the sasl.* and the ssl.* settings.", e, Denied(principal, null, null))
    case cause => if (e.isInstanceOf[ExecutionException]) cause else e
  }

  private def denied(operation: String, what: String, option: String, e: Throwable): KafkaStopped = new KafkaStopped(KafkaStopped.Denied,
    s"$principal is not allowed the operation $operation on the $what, says Kafka. " +
    s"An administrator grants it with `kafka-acls --add --allow-principal $principal --operation $operation $option`.", e, Denied(principal, operation, what))
}

object Causes {
  def of(e: Throwable): Throwable = e match {
    case x: ExecutionException if x.getCause != null => of(x.getCause)
    case x: java.util.concurrent.CompletionException if x.getCause != null => of(x.getCause)
    // A producer tells why a transaction can only be aborted as the cause.
    case x: KafkaException if x.getClass == classOf[KafkaException] && x.getCause != null => of(x.getCause)
    case x => x
  }

  /** Waiting mends it. A topic that is not there does not come by waiting. */
  def isPassing(e: Throwable): Boolean = of(e) match {
    case _: AuthenticationException | _: AuthorizationException | _: UnknownTopicOrPartitionException => false
    case _: RetriableException | _: TimeoutException | _: DisconnectException => true
    case _ => false
  }

  def isMissing(e: Throwable): Boolean = of(e).isInstanceOf[UnknownTopicOrPartitionException]

  /** What it says, as a sentence. */
  def sentence(e: Throwable): String = {
    val said = Option(of(e).getMessage).getOrElse(of(e).getClass.getSimpleName)
    if (said.endsWith(".")) said else said + "."
  }
}

/** What an application should say in its log, for the process that runs it. */
object Notices {
  private val log = LoggerFactory.getLogger("brookmere.kafka")
  private val told = new ConcurrentHashMap[String, ConcurrentLinkedQueue[String]]()
  private val Most = 100

  def tell(run: String, text: String): Unit = {
    log.warn(text)
    val queue = told.computeIfAbsent(run, _ => new ConcurrentLinkedQueue[String]())
    if (queue.size < Most) queue.add(text)
  }

  /** Returns what was not taken yet, a line each. */
  def take(run: String): String = {
    val queue = told.get(run)
    if (queue == null) "" else Iterator.continually(queue.poll()).takeWhile(_ != null).map(_.replace('\n', ' ')).mkString("\n")
  }

  def forget(run: String): Unit = told.remove(run)
}

/** Waits out brokers that restart and leaders that change. */
object Patience {
  private val Pause = 500L
  /** So long a broker may take to hear of a topic that is there. */
  private val MissingNanos = TimeUnit.SECONDS.toNanos(5)

  /** `topics` are those that are asked about. They should be `there`; `meanwhile` is done before it asks again. */
  def answer[T](place: KafkaPlace, operation: String, topics: Seq[String] = Nil, there: Boolean = false, meanwhile: () => Unit = () => ())(ask: => KafkaFuture[T]): T = {
    val began = System.nanoTime
    val deadline = began + TimeUnit.MILLISECONDS.toNanos(place.waitMs)
    var told = false
    while (true) {
      try {
        val found = ask.get()
        if (told) Notices.tell(place.run, "Kafka answers again.")
        return found
      } catch {
        case e: ExecutionException if Causes.isMissing(e) && there =>
          if (System.nanoTime - began > MissingNanos) throw missing(topics, e)
          Thread.sleep(Pause)
        case e: ExecutionException if Causes.isPassing(e) =>
          if (System.nanoTime > deadline) throw gone(place, operation, e)
          if (!told) Notices.tell(place.run, s"Kafka does not answer ($operation): ${Causes.sentence(e)} Trying again, for ${place.waitMs / 1000} s at most.")
          told = true
          Thread.sleep(Pause)
          meanwhile()
        case e: ExecutionException => throw place.refusals.explain(operation, e, topics)
      }
    }
    throw new IllegalStateException
  }

  private def missing(topics: Seq[String], e: Throwable): KafkaStopped = new KafkaStopped(KafkaStopped.Topic,
    s"The topic ${topics.map(t => s"'$t'").mkString(" or ")} does not exist any more. " +
    "Positions in a topic mean nothing in another one of its name: create it and reset the application with `brookmere reset`, or correct the program.", e)

  def gone(place: KafkaPlace, operation: String, e: Throwable): KafkaStopped = new KafkaStopped(KafkaStopped.Unreachable,
    s"Kafka did not answer for ${place.waitMs / 1000} s ($operation). Found: ${if (e == null) "no records came." else Causes.sentence(e)} " +
    "Nothing is lost: start the application again when the brokers are back. task.timeout.ms says how long they are waited for.", e)
}
