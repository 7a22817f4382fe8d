package brookmere.kafka

import java.util.concurrent.{ExecutionException, TimeUnit}

import scala.jdk.CollectionConverters._

import org.apache.kafka.common.{KafkaException, KafkaFuture}
import org.apache.kafka.common.errors._
import org.slf4j.LoggerFactory

/** Something about Kafka that stops an application; `kind` tells Python what it is. */
final class KafkaStopped(val kind: String, message: String, cause: Throwable = null) extends RuntimeException(message, cause)

object KafkaStopped {
  val Denied = "denied"
  val Fenced = "fenced"
  val Lost = "lost"
  val Stale = "stale"
  val Topic = "topic"
  val Unreachable = "unreachable"
}

/** Says in words who may not do what. */
final class Refusals(principal: String) extends Serializable {
  def explained[T](operation: String)(f: => T): T =
    try f catch { case e: KafkaException => throw explain(operation, e) }

  def explain(operation: String, e: Throwable): Throwable = Causes.of(e) match {
    case t: TopicAuthorizationException =>
      val topics = t.unauthorizedTopics.asScala.toSeq.sorted
      denied(operation, s"topic ${topics.map(n => s"'$n'").mkString(", ")}", topics.map(n => s"--topic $n").mkString(" "), e)
    case g: GroupAuthorizationException => denied("Read", s"consumer group '${g.groupId}'", s"--group ${g.groupId}", e)
    case _: TransactionalIdAuthorizationException => denied("Write", "transactional id of the application", "--transactional-id", e)
    case _: ClusterAuthorizationException => denied(operation, "cluster", "--cluster", e)
    case a: AuthenticationException => new KafkaStopped(KafkaStopped.Denied,
      s"The broker does not accept $principal: ${a.getMessage}. Check security.protocol, the sasl.* and the ssl.* settings.", e)
    case _ => e
  }

  private def denied(operation: String, what: String, option: String, e: Throwable): KafkaStopped = new KafkaStopped(KafkaStopped.Denied,
    s"The broker refused $principal the operation $operation on the $what. " +
    s"Grant it, for example with kafka-acls --add --allow-principal $principal --operation $operation $option.", e)
}

object Causes {
  def of(e: Throwable): Throwable = e match {
    case x: ExecutionException if x.getCause != null => of(x.getCause)
    case x: java.util.concurrent.CompletionException if x.getCause != null => of(x.getCause)
    // A producer tells why a transaction can only be aborted as the cause.
    case x: KafkaException if x.getClass == classOf[KafkaException] && x.getCause != null => of(x.getCause)
    case x => x
  }

  def isPassing(e: Throwable): Boolean = of(e) match {
    case _: AuthenticationException | _: AuthorizationException => false
    case _: RetriableException | _: TimeoutException | _: DisconnectException => true
    case _ => false
  }
}

/** Waits out brokers that restart and leaders that change. */
object Patience {
  private val log = LoggerFactory.getLogger("brookmere.kafka")
  private val Pause = 500L

  def answer[T](place: KafkaPlace, operation: String)(ask: => KafkaFuture[T]): T = {
    val deadline = System.nanoTime + TimeUnit.MILLISECONDS.toNanos(place.waitMs)
    var told = false
    while (true) {
      try return ask.get()
      catch {
        case e: ExecutionException if Causes.isPassing(e) && System.nanoTime < deadline =>
          if (!told) log.warn(s"Kafka does not answer ($operation): ${Causes.of(e).getMessage}. Trying again.")
          told = true
          Thread.sleep(Pause)
        case e: ExecutionException if Causes.isPassing(e) => throw gone(place, operation, e)
        case e: ExecutionException => throw place.refusals.explain(operation, e)
      }
    }
    throw new IllegalStateException
  }

  def gone(place: KafkaPlace, operation: String, e: Throwable): KafkaStopped = new KafkaStopped(KafkaStopped.Unreachable,
    s"Kafka did not answer for ${place.waitMs / 1000} s ($operation): ${if (e == null) "no records came" else Causes.of(e).getMessage}. " +
    "Nothing is lost: start the application again when the brokers are back. task.timeout.ms says how long they are waited for.", e)
}
