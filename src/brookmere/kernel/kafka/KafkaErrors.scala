package brookmere.kernel.kafka

import java.util.concurrent.ExecutionException

import scala.jdk.CollectionConverters._

import org.apache.kafka.common.KafkaException
import org.apache.kafka.common.errors._

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
