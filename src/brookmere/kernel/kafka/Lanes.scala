package brookmere.kafka

import java.time.Duration
import java.util.{Collections, HashMap => JHashMap}
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import org.apache.kafka.clients.admin.{ListConsumerGroupOffsetsOptions, ListConsumerGroupOffsetsSpec}
import org.apache.kafka.clients.consumer.{ConsumerGroupMetadata, OffsetAndMetadata}
import org.apache.kafka.clients.producer.KafkaProducer
import org.apache.kafka.common.{KafkaException, TopicPartition}
import org.apache.kafka.common.errors._
import org.apache.kafka.common.serialization.ByteArraySerializer

/** The last batch that a lane has written: of which query, and by which start of the application. */
final case class Mark(query: String, batch: Long, run: String) {
  def isDone(of: String, epoch: Long): Boolean = query == of && batch >= epoch
  /** An offset cannot be negative, so it is that of the batch behind. */
  def committed: OffsetAndMetadata = new OffsetAndMetadata(batch + 1, s"$query;$run")
}

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

  /** Ends what a predecessor has left open, and keeps it from writing. What goes on by itself does not take over from others. */
  def open(takesOver: Boolean): Lane = {
    val refuses = !takesOver || place.before.nonEmpty
    try guarded {
      if (refuses) refuseOthers(read())
      producer.initTransactions()
      val found = read()
      if (refuses) refuseOthers(found)
      mark = found.copy(run = place.run)
      if (takesOver) {
        producer.beginTransaction()
        commit()
      }
    } catch { case e: Throwable => close(); throw e }
    this
  }

  def isDone(query: String, epoch: Long): Boolean = mark.isDone(query, epoch)

  def begin(): Unit = guarded(producer.beginTransaction())

  def commit(query: String, epoch: Long): Unit = guarded {
    mark = Mark(query, epoch, place.run)
    commit()
  }

  def abort(): Unit = producer.abortTransaction()

  def close(): Unit = producer.close(Duration.ZERO)

  private def commit(): Unit = {
    producer.sendOffsetsToTransaction(Collections.singletonMap(where, mark.committed), new ConsumerGroupMetadata(group))
    producer.commitTransaction()
  }

  private def read(): Mark = {
    val found = Patience.answer(place, "Read") {
      place.admin.listConsumerGroupOffsets(Collections.singletonMap(group, new ListConsumerGroupOffsetsSpec()),
        new ListConsumerGroupOffsetsOptions().requireStable(true)).partitionsToOffsetAndMetadata(group)
    }.asScala.collect { case (p, o) if o != null => p -> Mark.read(o) }
    // Marks stand elsewhere when the program read other topics.
    found.get(where).orElse(found.values.maxByOption(_.batch)).getOrElse(Mark.None)
  }

  /** Whoever takes over leaves a mark, so where none is nobody has. */
  private def isOwn(m: Mark): Boolean = m.run.isEmpty || m.run == place.run || place.before(m.run)

  private def refuseOthers(m: Mark): Unit = if (!isOwn(m)) throw Lane.fenced(place, null)

  private def guarded[T](f: => T): T = try f catch { case e: KafkaException => throw explained(e) }

  /** A transaction that Kafka has ended looks like one of which another instance has taken the lane. */
  def explained(e: Throwable): Throwable =
    if (Lane.isEnded(e)) { if (mark.run == place.run && isOwn(read())) Lane.ended(place, e) else Lane.fenced(place, e) }
    // A mark stands where the application reads, and is refused in words only.
    else if (Causes.of(e).getMessage == Lane.MarkRefused) place.refusals.explain("Read", new TopicAuthorizationException(java.util.Set.of(where.topic)))
    else KafkaOutput.explained(place, e)
}

object Lane {
  /** A transaction is open for as long as a batch takes, and the first one after a start is slow. */
  private val TimeoutMs = "180000"

  private val MarkRefused = "Unexpected error in TxnOffsetCommitResponse: Topic authorization failed."

  def isEnded(e: Throwable): Boolean = Causes.of(e) match {
    case _: ProducerFencedException | _: InvalidProducerEpochException | _: InvalidPidMappingException | _: InvalidTxnStateException => true
    case _: OutOfOrderSequenceException | _: UnknownProducerIdException | _: TransactionAbortedException | _: TransactionAbortableException => true
    case _ => false
  }

  def fenced(place: KafkaPlace, e: Throwable): KafkaStopped = new KafkaStopped(KafkaStopped.Fenced,
    s"Another instance of the application '${place.application}' has taken over. " +
    "This one has written nothing since. Run one instance per application.id.", e)

  def ended(place: KafkaPlace, e: Throwable): KafkaStopped = new KafkaStopped(KafkaStopped.Again,
    s"Kafka has ended a transaction of the application '${place.application}', most often because its batch took longer than transaction.timeout.ms " +
    s"(${place.producers.get("transaction.timeout.ms", TimeoutMs)} ms). Found: ${Causes.sentence(e)} Nothing of the batch was written. " +
    "Raise transaction.timeout.ms, or make batches smaller with max.batch.records.", e)
}

/** The lanes that this process has open, by run. */
object Lanes {
  private val open = new ConcurrentHashMap[String, Lane]()
  private def key(run: String, lane: Int) = s"$run/$lane"

  /** Before a query starts: from now on an earlier start of the application writes nothing any more. */
  def takeOver(place: KafkaPlace): Unit = {
    val failed = new java.util.concurrent.ConcurrentLinkedQueue[Throwable]()
    val threads = (0 until place.lanes).map { n =>
      val t = new Thread(() => try open.put(key(place.run, n), new Lane(place, n).open(takesOver = true)) catch { case e: Throwable => failed.add(e) }, s"lane-$n")
      t.start()
      t
    }
    threads.foreach(_.join())
    if (!failed.isEmpty) throw failed.peek
  }

  def of(place: KafkaPlace, lane: Int): Lane = open.computeIfAbsent(key(place.run, lane), _ => new Lane(place, lane).open(takesOver = false))

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
