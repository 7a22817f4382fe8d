package brookmere.kernel.transport

import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedDeque}

import scala.jdk.CollectionConverters._

import brookmere.kernel.program.Program
import brookmere.kernel.rows.{DestinationSpec, Destinations}

/** Where a topology writes, and what happens to records that cannot be written. */
final class SinkPlan(
    val application: String,
    val to: Destinations,
    val slots: Array[Int],
    val sources: Array[String],
    val continueOn: Set[String],
    val names: Array[String],
    val deadLetter: String) extends Serializable

/**
 * A sink as Python registers it: the name of the query and of the application, the names of all nodes, and the topic
 * for dead letters or null. The dataclass of the same name and fields is in run/query/transports.py.
 */
final case class SinkSpec(name: String, application: String, nodes: java.util.List[String], deadLetter: String)

/** Receives the rows of a batch's taps before the batch is committed; the bytes are in the format of `Outputs`. */
trait TapListener { def tapped(rows: Array[Byte]): Unit }

/** The plan of each query by name. Python registers it before it starts the query. */
object Sinks {
  private val plans = new ConcurrentHashMap[String, (SinkPlan, AnyRef)]()
  private val listeners = new ConcurrentHashMap[String, TapListener]()
  private val failures = new ConcurrentHashMap[String, ConcurrentLinkedDeque[Array[Byte]]]()
  private val Kept = 1000

  /** `place` is an EmbeddedPlace or a KafkaPlace. */
  def register(spec: SinkSpec, to: DestinationSpec, program: Program, place: AnyRef): Unit = {
    val settings = program.settings
    val plan = new SinkPlan(spec.application, to.destinations, program.slots, settings.topics, settings.continueOn,
      spec.nodes.asScala.toArray, spec.deadLetter)
    plans.put(spec.name, (plan, place))
  }
  def listen(name: String, to: TapListener): Unit = listeners.put(name, to)
  def plan(name: String): SinkPlan = plans.get(name)._1
  def place[T](name: String): T = plans.get(name)._2.asInstanceOf[T]
  def listener(name: String): Option[TapListener] = Option(listeners.get(name))
  def forget(name: String): Unit = { plans.remove(name); listeners.remove(name); failures.remove(name) }

  private[transport] def failed(name: String, rows: Array[Byte]): Unit = {
    val list = failures.computeIfAbsent(name, _ => new ConcurrentLinkedDeque[Array[Byte]]())
    list.add(rows)
    while (list.size > Kept) list.poll()
  }

  /** Failures since the last call, in the format of `Outputs`; only the latest are kept. */
  def takeFailures(name: String): Array[Byte] = {
    val list = failures.get(name)
    if (list == null) Array.emptyByteArray
    else {
      val out = new java.io.ByteArrayOutputStream
      Iterator.continually(list.poll()).takeWhile(_ != null).foreach(b => out.write(b))
      out.toByteArray
    }
  }
}
