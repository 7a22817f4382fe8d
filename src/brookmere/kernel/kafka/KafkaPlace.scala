package brookmere.kernel.kafka

import java.util.{HashMap => JHashMap, List => JList, Map => JMap}
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import brookmere.kernel.transport.TopicsOffset

import org.apache.kafka.clients.admin.Admin

/** The settings of a client, which may hold secrets: they are never shown. */
final class ClientSettings(settings: JMap[String, String]) extends Serializable {
  private val all = new JHashMap[String, String](settings)

  /** `defaults` hold where the user has said nothing, `fixed` in any case. */
  def properties(defaults: Map[String, String], fixed: Map[String, String]): JMap[String, Object] = {
    val p = new JHashMap[String, Object](defaults.asJava)
    p.putAll(all)
    p.putAll(fixed.asJava)
    p
  }
  def get(name: String, default: String): String = all.getOrDefault(name, default)
  override def toString: String = "settings of a client"
}

/**
 * Where a query reads and writes on Kafka. `run` names this start of the application: only the last one
 * may write, and `before` the ones that it goes on with by itself. `lanes` is how many transactions write side by side; `byTask` tells that the last stage is
 * spread over them, otherwise the partition of the source decides. `patterns` are those that topics were
 * chosen by.
 */
final class KafkaPlace(
    val application: String,
    val run: String,
    val before: Set[String],
    val partitions: Map[String, Int],
    val patterns: Seq[String],
    val lanes: Int,
    val byTask: Boolean,
    val exactlyOnce: Boolean,
    val newPartitions: Int,
    val replication: Int,
    val waitMs: Long,
    val principal: String,
    val admins: ClientSettings,
    val consumers: ClientSettings,
    val producers: ClientSettings) extends Serializable {

  def this(application: String, run: String, before: JList[String], partitions: JMap[String, Integer], patterns: JList[String], lanes: Int, byTask: Boolean, exactlyOnce: Boolean,
      newPartitions: Int, replication: Int, waitMs: Long, principal: String,
      admin: JMap[String, String], consumer: JMap[String, String], producer: JMap[String, String]) =
    this(application, run, before.asScala.toSet, partitions.asScala.map { case (t, n) => t -> n.intValue }.toMap, patterns.asScala.toList, lanes, byTask, exactlyOnce, newPartitions,
      replication, waitMs, principal, new ClientSettings(admin), new ClientSettings(consumer), new ClientSettings(producer))

  /** The lane of a source partition: whatever else is read, and however often, it stays the same. */
  def laneOf(topic: String, partition: Int): Int = Math.floorMod(topic.hashCode + partition, lanes)

  def admin: Admin = KafkaPlaces.admin(this)
  def errors: KafkaErrors = new KafkaErrors(principal, application)
}

/** Places by the name of their run, and the clients that this process has for them. */
object KafkaPlaces {
  private val places = new ConcurrentHashMap[String, KafkaPlace]()
  private val admins = new ConcurrentHashMap[String, Admin]()
  private val ends = new ConcurrentHashMap[String, TopicsOffset]()

  def register(place: KafkaPlace): Unit = places.put(place.run, place)
  def of(run: String): KafkaPlace = places.get(run)

  def admin(place: KafkaPlace): Admin = admins.computeIfAbsent(place.run, _ =>
    place.errors.explained("connect to the cluster")(Admin.create(place.admins.properties(Map.empty, Map.empty))))

  /** Where the batch at hand ends. */
  def planned(run: String, end: TopicsOffset): Unit = ends.put(run, end)
  def end(run: String): Option[TopicsOffset] = Option(ends.get(run))

  /** Closes what this process has open for a run. */
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
