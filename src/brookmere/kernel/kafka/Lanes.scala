package brookmere.kafka

import java.time.Duration
import java.util.{Collections, HashMap => JHashMap}
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.{ListConsumerGroupOffsetsOptions, ListConsumerGroupOffsetsSpec}
import org.apache.kafka.clients.consumer.{ConsumerGroupMetadata, OffsetAndMetadata}
import org.apache.kafka.clients.producer.KafkaProducer
import org.apache.kafka.common.{KafkaException, TopicPartition}
import org.apache.kafka.common.errors.{InvalidProducerEpochException, ProducerFencedException}
import org.apache.kafka.common.serialization.ByteArraySerializer

/** The last batch that a lane has written: of which query, and by which start of the application. */
final case class Mark(query: String, batch: Long, run: String) {
  def isDone(of: String, epoch: Long): Boolean = query == of && batch >= epoch
  /** An offset cannot be negative, so it is that of the batch behind. */
  def committed: OffsetAndMetadata = new OffsetAndMetadata(batch + 1, s"$query;$run")
}

/** How far the state directory knows that the application has come; `unfinished` is when a batch was begun that is not finished, or below zero. */
final case class Known(query: String, batch: Long, unfinished: Long)

object Mark {
  val None: Mark = Mark("", -1L, "")
  def read(o: OffsetAndMetadata): Mark = o.metadata.split(";", -1) match {
    case Array(query, run) => Mark(query, o.offset - 1, run)
    case _ => None
  }
}

/**
 * A transactional producer. Its batches are numbered by a mark that is committed in the same transaction,
 * as the offset of a consumer group of the lane's own: a batch that is done again is known by it.
 */
final class Lane(place: KafkaPlace, val number: Int) {
  private val id = s"${place.application}-$number"
  private val group = s"${place.application}-sink-$number"
  // The group needs a partition that exists; every application reads something.
  private val where = new TopicPartition(place.partitions.keys.min, 0)
  private var mark = Mark.None

  val producer: KafkaProducer[Array[Byte], Array[Byte]] = 
    Producers.open(place, Map("transactional.id" -> id), Map("transaction.timeout.ms" -> Lane.TimeoutMs))

  /** Ends what a predecessor has left open, and keeps it from writing. */
  def takeOver(known: Known): Lane = opened {
    // Looked at before as well: a directory that is too old must not stop an instance that runs on the right one.
    check(known, found())
    producer.initTransactions()
    mark = check(known, found()).copy(run = place.run)
    producer.beginTransaction()
    commit()
  }

  /** Opens the lane once more in a run that has taken it over. */
  def reopen(): Lane = opened {
    refuseOthers(read())
    producer.initTransactions()
    mark = refuseOthers(read())
  }

  private def opened(f: => Unit): Lane = {
    try guarded(f) catch { case e: Throwable => close(); throw e }
    this
  }

  def isDone(query: String, epoch: Long): Boolean = mark.isDone(query, epoch)

  def begin(): Unit = {
    guarded(producer.beginTransaction())
    Halts.at("begun")
  }

  def commit(query: String, epoch: Long): Unit = guarded {
    Halts.at("sent")
    mark = Mark(query, epoch, place.run)
    commit()
    Halts.at("committed")
  }

  def abort(): Unit = producer.abortTransaction()

  def close(): Unit = producer.close(Duration.ZERO)

  private def commit(): Unit = {
    producer.sendOffsetsToTransaction(Collections.singletonMap(where, mark.committed), new ConsumerGroupMetadata(group))
    Halts.at("marked")
    producer.commitTransaction()
  }

  private def found(): Option[Mark] = {
    val all = Patience.answer(place, "Read") {
      place.admin.listConsumerGroupOffsets(Collections.singletonMap(group, new ListConsumerGroupOffsetsSpec()),
        new ListConsumerGroupOffsetsOptions().requireStable(true)).partitionsToOffsetAndMetadata(group)
    }.asScala.collect { case (p, o) if o != null => p -> Mark.read(o) }
    // Marks stand elsewhere when the program read other topics.
    all.get(where).orElse(all.values.maxByOption(_.batch))
  }

  private def read(): Mark = found().getOrElse(Mark.None)

  private def refuseOthers(m: Mark): Mark = if (m.run == place.run) m else throw Lane.fenced(place, null)

  /** Numbers of batches say nothing if the state directory does not know them all, or if no mark tells the last one. */
  private def check(known: Known, m: Option[Mark]): Mark = {
    if (m.exists(_.isDone(known.query, known.batch + 1))) throw new KafkaStopped(KafkaStopped.Stale,
      s"The state directory is older than what the application '${place.application}' has written to Kafka: " +
      s"the last batch it knows has the number ${known.batch}, and number ${m.get.batch} is written. " +
      "Start the application on its newest state directory; if that is lost, begin anew under another application.id.")
    if (m.isEmpty && known.unfinished >= 0 && System.currentTimeMillis - known.unfinished > Lane.ForgottenMs) throw new KafkaStopped(KafkaStopped.Stale,
      s"The application '${place.application}' was ended in the midst of the batch ${known.batch}, and whether that was written is not known any more: " +
      s"the offsets of the consumer group '$group', which tell it, have been deleted. They are kept for offsets.retention.minutes of the brokers. " +
      "Start the application once with processing.guarantee=at_least_once: the batch may then be written twice.")
    m.getOrElse(Mark.None)
  }

  private def guarded[T](f: => T): T = try f catch {
    case e: KafkaException if Lane.isFenced(e) => throw Lane.fenced(place, e)
    case e: KafkaException => throw place.refusals.explain("Write", e)
  }
}

object Lane {
  /** Marks of lanes that write nothing expire as well. So long they are there for sure. */
  private val ForgottenMs = 24L * 3600 * 1000
  /** A transaction is open for as long as a batch takes, and the first one after a start is slow. */
  private val TimeoutMs = "180000"

  def isFenced(e: Throwable): Boolean = Causes.of(e) match {
    case _: ProducerFencedException | _: InvalidProducerEpochException => true
    case _ => false
  }

  def fenced(place: KafkaPlace, e: Throwable): KafkaStopped = new KafkaStopped(KafkaStopped.Fenced,
    s"Another instance of the application '${place.application}' has taken over, or a transaction took longer than transaction.timeout.ms. " +
    "This one has written nothing since. Run one instance per application.id.", e)
}

/** The lanes that this process has open, by run. */
object Lanes {
  private val open = new ConcurrentHashMap[String, Lane]()
  private def key(run: String, lane: Int) = s"$run/$lane"

  /** Before a query starts: from now on an earlier start of the application writes nothing any more. */
  def takeOver(place: KafkaPlace, query: String, batch: Long, unfinished: Long): Unit = {
    val known = Known(query, batch, unfinished)
    val failed = new java.util.concurrent.ConcurrentLinkedQueue[Throwable]()
    val threads = (0 until place.lanes).map { n =>
      val t = new Thread(() => try open.put(key(place.run, n), new Lane(place, n).takeOver(known)) catch { case e: Throwable => failed.add(e) }, s"lane-$n")
      t.start()
      t
    }
    threads.foreach(_.join())
    if (!failed.isEmpty) throw failed.peek
  }

  def of(place: KafkaPlace, lane: Int): Lane = open.computeIfAbsent(key(place.run, lane), _ => new Lane(place, lane).reopen())

  /** Gives up a producer of which nobody knows how far it came. */
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
  private val Defaults = Map("linger.ms" -> "20", "batch.size" -> "131072", "buffer.memory" -> "67108864", "acks" -> "all")

  def open(place: KafkaPlace, fixed: Map[String, String], defaults: Map[String, String] = Map.empty): KafkaProducer[Array[Byte], Array[Byte]] = {
    // A broker that restarts is waited for as long as everything else is.
    val patient = Map("delivery.timeout.ms" -> math.max(place.waitMs, 31000L).toString, "max.block.ms" -> place.waitMs.toString)
    new KafkaProducer(place.producers.properties(Defaults ++ patient ++ defaults, fixed + ("enable.idempotence" -> "true")), new ByteArraySerializer, new ByteArraySerializer)
  }
}

/** Producers without transactions, for at_least_once: one per run and process. */
object PlainProducers {
  private val open = new ConcurrentHashMap[String, KafkaProducer[Array[Byte], Array[Byte]]]()
  def of(place: KafkaPlace): KafkaProducer[Array[Byte], Array[Byte]] = open.computeIfAbsent(place.run, _ => Producers.open(place, Map.empty))
  def close(run: String): Unit = {
    val p = open.remove(run)
    if (p != null) p.close(Duration.ofSeconds(5))
  }
}
