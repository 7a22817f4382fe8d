package brookmere.kernel.kafka

import java.time.Duration
import java.util.Collections
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.consumer.ConsumerGroupMetadata
import org.apache.kafka.clients.producer.KafkaProducer
import org.apache.kafka.common.{KafkaException, TopicPartition}
import org.apache.kafka.common.errors._
import org.apache.kafka.common.serialization.ByteArraySerializer

/**
 * A transactional producer. Each transaction also commits a mark, the number of its batch, as the offset of a consumer
 * group of the lane's own: this is how a repeated batch is recognised.
 */
final class Lane(place: KafkaPlace, val number: Int) {
  private val id = s"${place.application}-$number"
  private val group = s"${place.application}-sink-$number"
  // An offset needs a partition that exists; every application reads some topic.
  private val where = new TopicPartition(place.partitions.keys.min, 0)
  private val marks = new Marks(place, group)
  private var mark = Mark.None

  val producer: KafkaProducer[Array[Byte], Array[Byte]] =
    Producers.open(place, Map("transactional.id" -> id), Map("transaction.timeout.ms" -> Lane.TimeoutMs))

  /** Ends what a predecessor has left open, and fences it. A run that restarts by itself does not fence other runs. */
  def takeOver(known: Known): Lane = opened {
    def fit(found: Map[TopicPartition, Mark]): Mark = {
      if (place.before.nonEmpty) refuseOthers(found)
      known.check(place, marks.of(known.query, found))
    }
    // Checked in advance as well: a run that must not take over must not disturb the rightful one.
    fit(marks.committed())
    producer.initTransactions()
    val found = marks.settled()
    mark = fit(found).copy(run = place.run)
    if (place.before.isEmpty) Lanes.before(group, found)
    producer.beginTransaction()
    commit()
  }

  /** Opens the lane again in a run that has taken it over. */
  def reopen(): Lane = opened {
    refuseOthers(marks.committed())
    producer.initTransactions()
    mark = refuseOthers(marks.settled()).copy(run = place.run)
  }

  private def opened(f: => Unit): Lane = {
    try guarded(f) catch { case e: Throwable => close(); throw e }
    this
  }

  def isDone(query: String, epoch: Long): Boolean = mark.isDone(query, epoch)

  def begin(): Unit = {
    guarded(producer.beginTransaction())
    FaultInjection.at("begun")
  }

  def commit(query: String, epoch: Long): Unit = guarded {
    FaultInjection.at("sent")
    mark = Mark(query, epoch, place.run)
    commit()
    FaultInjection.at("committed")
  }

  def abort(): Unit = producer.abortTransaction()

  def close(): Unit = producer.close(Duration.ZERO)

  private def commit(): Unit = {
    producer.sendOffsetsToTransaction(Collections.singletonMap(where, mark.committed), new ConsumerGroupMetadata(group))
    FaultInjection.at("marked")
    producer.commitTransaction()
  }

  /** The mark of the last run that took over. It is in another partition if the program read other topics before. */
  private def last(found: Map[TopicPartition, Mark]): Mark =
    found.get(where).orElse(found.values.maxByOption(_.batch)).getOrElse(Mark.None)

  /** Every run that takes over leaves a mark, so without a mark nobody has. */
  private def isOwn(m: Mark): Boolean = m.run.isEmpty || m.run == place.run || place.before(m.run)

  /** A mark elsewhere that was not there when this process took over belongs to another program with the same name. */
  private def areOwn(found: Map[TopicPartition, Mark]): Boolean =
    isOwn(last(found)) && Lanes.before(group).forall { before =>
      found.forall { case (p, m) => isOwn(m) || before.get(p).contains(m) }
    }

  private def refuseOthers(found: Map[TopicPartition, Mark]): Mark =
    if (areOwn(found)) last(found) else throw Lane.fenced(place, null)

  private def guarded[T](f: => T): T = try f catch { case e: KafkaException => throw explained(e) }

  /** A transaction that Kafka has ended looks like one whose lane was taken over by another instance. */
  def explained(e: Throwable): Throwable =
    if (Lane.isEnded(e)) {
      if (mark.run == place.run && areOwn(marks.committed())) Lane.ended(place, e) else Lane.fenced(place, e)
    }
    // The mark's topic is one that the application reads, and its refusal has a message only, no class of its own.
    else if (Causes.of(e).getMessage == Lane.MarkRefused)
      place.errors.explain("Read", new TopicAuthorizationException(java.util.Set.of(where.topic)))
    else KafkaOutput.explained(place, e)
}

object Lane {
  /** A transaction is open for as long as a batch takes, and the first one after a start is slow. */
  private val TimeoutMs = "180000"

  private val MarkRefused = "Unexpected error in TxnOffsetCommitResponse: Topic authorization failed."

  def isEnded(e: Throwable): Boolean = Causes.of(e) match {
    case _: ProducerFencedException | _: InvalidProducerEpochException => true
    case _: InvalidPidMappingException | _: InvalidTxnStateException => true
    case _: OutOfOrderSequenceException | _: UnknownProducerIdException => true
    case _: TransactionAbortedException | _: TransactionAbortableException => true
    case _ => false
  }

  def fenced(place: KafkaPlace, e: Throwable): KafkaStopped = new KafkaStopped(KafkaStopped.Fenced,
    s"Another instance of the application '${place.application}' has taken over. " +
    "This one has written nothing since. Run one instance per application.id.", e)

  def ended(place: KafkaPlace, e: Throwable): KafkaStopped = new KafkaStopped(KafkaStopped.Again,
    s"Kafka has ended a transaction of the application '${place.application}', most often because its batch took " +
    s"longer than transaction.timeout.ms (${place.producers.get("transaction.timeout.ms", TimeoutMs)} ms). " +
    s"Found: ${Causes.sentence(e)} No record is lost or written twice. " +
    "Raise transaction.timeout.ms, or make batches smaller with max.batch.records.", e)
}

/** The lanes that this process has open, by run. */
object Lanes {
  private val open = new ConcurrentHashMap[String, Lane]()
  private val marks = new ConcurrentHashMap[String, Map[TopicPartition, Mark]]()

  /** The marks in a lane's group when this process took it over. */
  def before(group: String): Option[Map[TopicPartition, Mark]] = Option(marks.get(group))
  def before(group: String, found: Map[TopicPartition, Mark]): Unit = marks.put(group, found)

  private def key(run: String, lane: Int) = s"$run/$lane"

  /** Called before a query starts: from now on earlier runs of the application cannot write. */
  def takeOver(place: KafkaPlace, query: String, batch: Long, unfinished: Long): Unit = {
    val known = Known(query, batch, unfinished)
    val failed = new java.util.concurrent.ConcurrentLinkedQueue[Throwable]()
    val threads = (0 until place.lanes).map { n =>
      val t = new Thread(() =>
        try open.put(key(place.run, n), new Lane(place, n).takeOver(known))
        catch { case e: Throwable => failed.add(e) }, s"lane-$n")
      t.start()
      t
    }
    threads.foreach(_.join())
    if (!failed.isEmpty) throw failed.peek
  }

  def of(place: KafkaPlace, lane: Int): Lane =
    open.computeIfAbsent(key(place.run, lane), _ => new Lane(place, lane).reopen())

  /** Closes a producer whose progress is unknown. */
  def drop(place: KafkaPlace, lane: Lane): Unit = {
    open.remove(key(place.run, lane.number), lane)
    lane.close()
  }

  def close(run: String): Unit = open.keySet.asScala.filter(_.startsWith(run + "/")).foreach { k =>
    val l = open.remove(k)
    if (l != null) l.close()
  }
}

object Producers {
  private val Defaults = Map("linger.ms" -> "20", "batch.size" -> "131072", "buffer.memory" -> "67108864",
    "acks" -> "all")

  def open(place: KafkaPlace, fixed: Map[String, String],
      defaults: Map[String, String] = Map.empty): KafkaProducer[Array[Byte], Array[Byte]] = {
    // A restarting broker is waited for as long as everything else.
    val patient = Map("delivery.timeout.ms" -> math.max(place.waitMs, 31000L).toString,
      "max.block.ms" -> place.waitMs.toString)
    new KafkaProducer(place.producers.properties(Defaults ++ patient ++ defaults,
      fixed + ("enable.idempotence" -> "true")), new ByteArraySerializer, new ByteArraySerializer)
  }
}

/** Producers without transactions, for at_least_once: one per run and process. */
object PlainProducers {
  private val open = new ConcurrentHashMap[String, KafkaProducer[Array[Byte], Array[Byte]]]()
  def of(place: KafkaPlace): KafkaProducer[Array[Byte], Array[Byte]] =
    open.computeIfAbsent(place.run, _ => Producers.open(place, Map.empty))
  def close(run: String): Unit = {
    val p = open.remove(run)
    if (p != null) p.close(Duration.ofSeconds(5))
  }
}
