package brookmere.kernel.kafka

import java.util.Collections
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import brookmere.kernel.transport.{OutputTopic, TopicRefused}

import org.apache.kafka.clients.admin.{Config, NewTopic, TopicDescription}
import org.apache.kafka.common.config.{ConfigResource, TopicConfig}
import org.apache.kafka.common.errors._

/** A topic that is written, and the limits of its records. */
final case class KafkaTopic(output: OutputTopic, maxBytes: Int, olderMs: Long, newerMs: Long)

/** What this process knows of its output topics, refreshed from time to time. */
object OutputTopics {
  private final case class Known(topic: KafkaTopic, since: Long)
  private val known = new ConcurrentHashMap[String, Known]()
  private val KeptNanos = 30L * 1000 * 1000 * 1000

  def of(place: KafkaPlace, name: String): KafkaTopic = {
    val key = s"${place.run}/$name"
    val k = known.get(key)
    if (k != null && System.nanoTime - k.since < KeptNanos) k.topic
    else {
      val t = look(place, name)
      known.put(key, Known(t, System.nanoTime))
      t
    }
  }

  def forget(run: String): Unit = known.keySet.removeIf(_.startsWith(run + "/"))

  private def look(place: KafkaPlace, name: String): KafkaTopic = {
    val described = try describe(place, name).getOrElse(create(place, name)) catch {
      case e: KafkaStopped if e.kind == KafkaStopped.Denied => throw new TopicRefused(e.getMessage, e)
      case e: ApiException if !Causes.isPassing(e) =>
        throw new TopicRefused("",
          new InvalidTopicException(s"the topic '$name' does not exist and cannot be created: ${e.getMessage}", e))
    }
    val c = settings(place, name)
    def number(setting: String, default: Long): Long =
      c.flatMap(x => Option(x.get(setting))).map(_.value.toLong).getOrElse(default)
    def text(setting: String, default: String): String =
      c.flatMap(x => Option(x.get(setting))).map(_.value).getOrElse(default)
    val request = place.producers.get("max.request.size", "1048576").toLong
    // The limits that the topic itself sets are checked separately from the size, which includes the headers.
    KafkaTopic(
      OutputTopic(described.partitions.size, text(TopicConfig.CLEANUP_POLICY_CONFIG, "delete").contains("compact"),
        text(TopicConfig.MESSAGE_TIMESTAMP_TYPE_CONFIG, "CreateTime") == "LogAppendTime", Int.MaxValue),
      math.min(request, number(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, request)).toInt,
      number(TopicConfig.MESSAGE_TIMESTAMP_BEFORE_MAX_MS_CONFIG, Long.MaxValue),
      number(TopicConfig.MESSAGE_TIMESTAMP_AFTER_MAX_MS_CONFIG, Long.MaxValue))
  }

  private def describe(place: KafkaPlace, name: String): Option[TopicDescription] =
    try Some(Retry.answer(place, "Describe", Seq(name))(
      place.admin.describeTopics(Collections.singletonList(name)).topicNameValues.get(name)))
    catch { case e: Throwable if Causes.isMissing(e) => None }

  private def create(place: KafkaPlace, name: String): TopicDescription = {
    try Retry.answer(place, "Create", Seq(name))(place.admin.createTopics(Collections.singletonList(
      new NewTopic(name, place.newPartitions, place.replication.toShort))).all())
    catch { case _: TopicExistsException => () }
    // The broker that is asked next may not know the topic yet.
    var tries = 0
    var found = describe(place, name)
    while (found.isEmpty && tries < 100) {
      Thread.sleep(50)
      tries += 1
      found = describe(place, name)
    }
    found.getOrElse(throw new TopicRefused(s"the topic '$name' was created, but the brokers do not know it"))
  }

  /** None if the application may not read them: then the broker itself rejects records. */
  private def settings(place: KafkaPlace, name: String): Option[Config] = {
    val resource = new ConfigResource(ConfigResource.Type.TOPIC, name)
    try Some(Retry.answer(place, "DescribeConfigs", Seq(name))(
      place.admin.describeConfigs(Collections.singletonList(resource)).all()).get(resource))
    catch { case e: KafkaStopped if e.kind == KafkaStopped.Denied => None }
  }
}
