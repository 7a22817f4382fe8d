package brookmere.kernel.kafka

import java.util.{HashMap => JHashMap, List => JList, Map => JMap}
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import brookmere.kernel.transport.TopicsOffset

import org.apache.kafka.clients.admin.Admin

/** The settings of a client, which may hold secrets, so they are never shown. */
final class ClientSettings(settings: JMap[String, String]) extends Serializable {
  private val all = new JHashMap[String, String](settings)

  /** `defaults` are used where the user has set nothing, `fixed` always. */
  def properties(defaults: Map[String, String], fixed: Map[String, String]): JMap[String, Object] = {
    val p = new JHashMap[String, Object](defaults.asJava)
    p.putAll(all)
    p.putAll(fixed.asJava)
    p
  }
  def get(name: String, default: String): String = all.getOrDefault(name, default)
  override def toString: String = "settings of a client"
}

// What Python passes to KafkaPlace. Each class has a frozen dataclass of the same name and fields in
// run/query/transports.py; tests/kafka/test_place.py compares the two.

/**
 * The topics that a query reads: the partitions of each, and the patterns that topics were chosen by. Topics that
 * records are routed to are created with `newPartitions` and `replication`.
 */
final case class KafkaTopicSpec(
    partitions: JMap[String, Integer],
    patterns: JList[String],
    newPartitions: Int,
    replication: Int)

/**
 * How a query writes. `lanes` is the number of concurrent transactions; with `byTask` the tasks of the last stage share
 * them, otherwise the partition of the source decides. `before` names the earlier runs that this one continues.
 */
final case class KafkaWriteSpec(lanes: Int, byTask: Boolean, exactlyOnce: Boolean, before: JList[String])

/** The settings of all clients, which may hold secrets, so they are never shown. */
final case class KafkaClientSpec(
    principal: String,
    waitMs: Long,
    admin: JMap[String, String],
    consumer: JMap[String, String],
    producer: JMap[String, String]) {
  override def toString: String = "settings of clients"
}

/** Where a query reads and writes on Kafka. `run` names this start of the application: only the latest may write. */
final class KafkaPlace(
    val application: String,
    val run: String,
    topics: KafkaTopicSpec,
    writes: KafkaWriteSpec,
    clients: KafkaClientSpec) extends Serializable {
  val before: Set[String] = writes.before.asScala.toSet
  val partitions: Map[String, Int] = topics.partitions.asScala.map { case (t, n) => t -> n.intValue }.toMap
  val patterns: Seq[String] = topics.patterns.asScala.toList
  val admins: ClientSettings = new ClientSettings(clients.admin)
  val consumers: ClientSettings = new ClientSettings(clients.consumer)
  val producers: ClientSettings = new ClientSettings(clients.producer)

  def lanes: Int = writes.lanes
  def byTask: Boolean = writes.byTask
  def exactlyOnce: Boolean = writes.exactlyOnce
  def newPartitions: Int = topics.newPartitions
  def replication: Int = topics.replication
  def waitMs: Long = clients.waitMs
  def principal: String = clients.principal

  /** The lane of a source partition; it does not depend on what else is read, nor on retries. */
  def laneOf(topic: String, partition: Int): Int = Math.floorMod(topic.hashCode + partition, lanes)

  def admin: Admin = KafkaPlaces.admin(this)
  def errors: KafkaErrors = new KafkaErrors(principal, application)
}

/** Places by the name of their run, and the clients of this process for them. */
object KafkaPlaces {
  private val places = new ConcurrentHashMap[String, KafkaPlace]()
  private val admins = new ConcurrentHashMap[String, Admin]()
  private val ends = new ConcurrentHashMap[String, TopicsOffset]()

  def register(place: KafkaPlace): Unit = places.put(place.run, place)
  def of(run: String): KafkaPlace = places.get(run)

  def admin(place: KafkaPlace): Admin = admins.computeIfAbsent(place.run, _ =>
    place.errors.explained("connect to the cluster")(Admin.create(place.admins.properties(Map.empty, Map.empty))))

  /** Sets where the current batch ends. */
  def planned(run: String, end: TopicsOffset): Unit = ends.put(run, end)
  def end(run: String): Option[TopicsOffset] = Option(ends.get(run))

  /** Closes everything that this process has open for a run. */
  def forget(run: String): Unit = {
    GroupOffsets.settle(run)
    places.remove(run)
    ends.remove(run)
    Consumers.close(run)
    Lanes.close(run)
    PlainProducers.close(run)
    OutputTopics.forget(run)
    Notices.forget(run)
    val a = admins.remove(run)
    if (a != null) a.close(java.time.Duration.ofSeconds(5))
  }
}
