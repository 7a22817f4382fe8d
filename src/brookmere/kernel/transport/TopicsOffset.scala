package brookmere.kernel.transport

import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.spark.sql.connector.read.streaming.Offset

/** The wall clock of a batch, and whether the batch left records waiting. */
final case class BatchClock(wall: Long, waiting: Boolean)

/**
 * Per topic, the topic's id and the next offset of each partition; and the wall clock of the batch that ends here, so
 * that a repeated batch sees the same time.
 */
final case class TopicsOffset(positions: Map[String, (String, Array[Long])], clock: Option[BatchClock] = None)
    extends Offset {
  override def json(): String = {
    val root = SourceOptions.json.createObjectNode
    clock.foreach(t => root.putObject(TopicsOffset.Clock).put("wall", t.wall).put("waiting", t.waiting))
    positions.toSeq.sortBy(_._1).foreach { case (topic, (id, offsets)) =>
      val list = root.putObject(topic).put("id", id).putArray("offsets")
      offsets.foreach(o => list.add(o))
    }
    root.toString
  }

  def isSame(o: TopicsOffset): Boolean =
    positions.keySet == o.positions.keySet && positions.forall { case (t, (id, at)) =>
      val (other, there) = o.positions(t)
      id == other && at.sameElements(there)
    }
}

object TopicsOffset {
  /** No topic can have this name. */
  private val Clock = "$clock"

  def read(json: String): TopicsOffset = {
    val root = SourceOptions.json.readTree(json)
    val clock = root.path(Clock)
    TopicsOffset(root.properties.asScala.collect { case e if e.getKey != Clock =>
      e.getKey -> (e.getValue.path("id").asText, e.getValue.path("offsets").elements.asScala.map(_.asLong).toArray)
    }.toMap, if (clock.isMissingNode) None
      else Some(BatchClock(clock.path("wall").asLong, clock.path("waiting").asBoolean)))
  }
}

/** Applications that are about to stop: they get no new records, so the current batch is their last. */
object Draining {
  private val held = ConcurrentHashMap.newKeySet[String]()
  def begin(application: String): Unit = held.add(application)
  def end(application: String): Unit = held.remove(application)
  def contains(application: String): Boolean = held.contains(application)
}
