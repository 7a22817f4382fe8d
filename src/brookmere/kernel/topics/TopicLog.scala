package brookmere.kernel.topics

import java.nio.channels.FileChannel
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, NoSuchFileException, Path, StandardCopyOption, StandardOpenOption}
import java.nio.file.attribute.BasicFileAttributes
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode

/** A segment as the manifest lists it: the records from `base` up to but not including `end`. */
final case class Listed(file: String, base: Long, end: Long, rows: Int, bytes: Long, crc: Long, min: Long, max: Long)

/** Rows of a record batch, from `from` up to but not including `to`; an offset is `base` plus the row's delta. */
final class Slice(val base: Long, val batch: SegmentBatch, val from: Int, val to: Int)

/** A version of a partition: what can be read of it. */
final case class PartitionLog(start: Long, end: Long, segments: Array[Listed])

/** A version of a topic. */
final case class Manifest(id: String, partitions: Array[PartitionLog], writers: Map[String, (String, Long)])

/** The settings that a topic was created with. */
final case class TopicSettings(id: String, partitions: Int, compacted: Boolean, appendTime: Boolean, maxBytes: Int)

/** Who appends: an application, its query, and the batch. */
final case class BatchWriter(application: String, query: String, batch: Long)

/** A topic in a directory: its manifest and segments. docs/reference/topics.md specifies the format and the rules. */
final class TopicLog(val directory: Path) {
  import TopicLog._

  val name: String = directory.getFileName.toString
  val segments: Path = directory.resolve("segments")
  private val manifestFile = directory.resolve("manifest.json")
  private var seen: AnyRef = null
  private var last: Manifest = null

  lazy val settings: TopicSettings = {
    val j = tree(directory.resolve("topic.json"))
    val c = j.path("config")
    TopicSettings(j.path("id").asText, j.path("partitions").asInt,
      c.path("cleanup.policy").asText("delete").contains("compact"),
      c.path("message.timestamp.type").asText("CreateTime") == "LogAppendTime",
      c.path("max.message.bytes").asInt(1048588))
  }

  /** The newest version; reads the file only if it has changed. */
  def manifest(): Manifest = synchronized {
    val a = try Files.readAttributes(manifestFile, classOf[BasicFileAttributes])
      catch { case _: NoSuchFileException => throw gone() }
    val mark = (a.fileKey, a.lastModifiedTime, a.size)
    if (mark != seen) {
      last = read(tree(manifestFile))
      // Two files written within one tick of the file system's clock can look the same.
      seen = if (System.currentTimeMillis - a.lastModifiedTime.toMillis > TimeStep) mark else null
    }
    last
  }

  private def gone(): TopicException =
    if (!Files.isDirectory(directory)) new TopicException(
      s"The topic '$name' does not exist in ${directory.getParent}. Create it with: brookmere topics create $name")
    else new TopicException(
      s"The topic '$name' has no manifest: $manifestFile is missing. Run: brookmere topics repair $name")

  private def tree(file: Path): ObjectNode =
    try json.readTree(Files.readAllBytes(file)).asInstanceOf[ObjectNode]
    catch {
      case _: NoSuchFileException => throw gone()
      case e: com.fasterxml.jackson.core.JsonProcessingException =>
        throw new TopicException(s"The file $file of the topic '$name' is damaged: ${e.getOriginalMessage}. " +
          s"Run: brookmere topics repair $name")
    }

  private def read(j: ObjectNode): Manifest = {
    val partitions = j.path("partitions").elements.asScala.map { p =>
      PartitionLog(p.path("start").asLong, p.path("end").asLong, p.path("segments").elements.asScala.map { s =>
        Listed(s.path("file").asText, s.path("base").asLong, s.path("end").asLong, s.path("rows").asInt,
          s.path("bytes").asLong,
          s.path("crc").asLong, s.path("min").asLong, s.path("max").asLong)
      }.toArray)
    }.toArray
    val writers = j.path("writers").properties.asScala.map { e =>
      e.getKey -> (e.getValue.path("query").asText, e.getValue.path("batch").asLong)
    }.toMap
    Manifest(j.path("id").asText, partitions, writers)
  }

  /** Opens a listed segment. */
  private def open(partition: Int, s: Listed): Segment = {
    try Segment.open(segments.resolve(s.file), s.bytes, s.crc)
    catch {
      case e: Segment.Damaged => throw damaged(partition, s, e.getMessage)
      case e @ (_: IndexOutOfBoundsException | _: IllegalArgumentException) =>
        throw damaged(partition, s, String.valueOf(e.getMessage))
    }
  }

  private def damaged(partition: Int, s: Listed, why: String): TopicException = new TopicException(
    s"The segment ${segments.resolve(s.file)} of the topic '$name' is damaged: $why. " +
    s"It holds the records ${s.base} to ${s.end - 1} of partition $partition. " +
    s"Restore the file from a copy, or give these records up with: brookmere topics repair $name")

  /** The records of a partition from `start` up to but not including `end`. */
  def slices(partition: Int, start: Long, end: Long): Iterator[Slice] = {
    var at = start
    Iterator.continually {
      val s = if (at >= end) None else manifest().partitions(partition).segments.find(_.end > at).filter(_.base < end)
      val from = at
      at = s.fold(end)(found => math.min(found.end, end))
      s.map(found => (found, from, at))
    }.takeWhile(_.isDefined).map(_.get).flatMap { case (s, from, to) => reopened(partition, s, from, to) }
  }

  /** Records of a segment, or of what has replaced it since the manifest was read. */
  private def reopened(partition: Int, s: Listed, from: Long, to: Long): Iterator[Slice] =
    try sliced(s, open(partition, s), from, to)
    catch {
      case _: NoSuchFileException =>
        synchronized { seen = null }
        val now = manifest().partitions(partition).segments.filter(n => n.end > from && n.base < to)
        if (now.exists(_.file == s.file)) throw damaged(partition, s, "it is missing")
        now.iterator.flatMap(n => sliced(n, open(partition, n), from, to))
    }

  private def sliced(s: Listed, segment: Segment, from: Long, to: Long): Iterator[Slice] =
    segment.batches.iterator
      .map(b => new Slice(s.base, b, b.find(from - s.base), b.find(to - s.base)))
      .filter(x => x.from < x.to)

  /** The record at an offset, or None if retention or compaction removed it. */
  def record(partition: Int, offset: Long): Option[(SegmentBatch, Int)] =
    slices(partition, offset, offset + 1).map(s => (s.batch, s.from)).nextOption()

  /** Appends segments to their partitions, all in one step, and only once per batch of a writer. */
  def append(added: Seq[NewSegment], writer: Option[BatchWriter]): Boolean = locked {
    val j = tree(manifestFile)
    if (j.path("id").asText != settings.id) {
      throw new TopicException(s"The topic '$name' was deleted and recreated while a batch was written to it. " +
        "Restart the application: it repeats the batch.")
    }
    val done = writer.exists { w =>
      val known = j.path("writers").path(w.application)
      known.path("query").asText == w.query && known.path("batch").asLong(-1L) >= w.batch
    }
    if (!done) {
      val now = System.currentTimeMillis
      added.foreach { s =>
        val p = j.path("partitions").get(s.partition).asInstanceOf[ObjectNode]
        val base = p.path("end").asLong
        p.withArray[com.fasterxml.jackson.databind.node.ArrayNode]("segments").addObject()
          .put("file", s.file).put("base", base).put("end", base + s.rows).put("rows", s.rows).put("bytes", s.bytes)
          .put("crc", s.crc).put("min", s.min).put("max", s.max).put("at", now)
        p.put("end", base + s.rows)
      }
      writer.foreach { w =>
        val all = if (j.path("writers").isObject) j.get("writers").asInstanceOf[ObjectNode] else j.putObject("writers")
        all.putObject(w.application).put("query", w.query).put("batch", w.batch)
      }
      j.put("version", j.path("version").asLong + 1)
      keepPrevious()
      replace(manifestFile, j)
    }
    !done
  }

  /** Keeps the manifest from before the last change, for a repair; not on a file system without links. */
  private def keepPrevious(): Unit = {
    val link = directory.resolve(s"manifest.previous.json.${java.util.UUID.randomUUID}.tmp")
    try {
      Files.createLink(link, manifestFile)
      Files.move(link, directory.resolve("manifest.previous.json"), StandardCopyOption.ATOMIC_MOVE,
        StandardCopyOption.REPLACE_EXISTING)
    } catch { case _: java.io.IOException | _: UnsupportedOperationException => Files.deleteIfExists(link) }
  }

  private def locked[T](work: => T): T =
    locks.computeIfAbsent(directory.toAbsolutePath.toString, _ => new Object).synchronized {
      val channel =
        try FileChannel.open(directory.resolve("lock"), StandardOpenOption.WRITE, StandardOpenOption.CREATE)
        catch { case _: NoSuchFileException => throw gone() }
      try {
        val lock = channel.lock()
        try work finally lock.release()
      } finally channel.close()
    }
}

object TopicLog {
  /** A topic that cannot be read or written; the message says what to do. */
  final class TopicException(message: String) extends java.io.IOException(message)

  private val json = new ObjectMapper
  private val TimeStep = 50L
  private val locks = new ConcurrentHashMap[String, Object]()
  private val known = new ConcurrentHashMap[String, TopicLog]()

  def apply(directory: String, topic: String): TopicLog =
    known.computeIfAbsent(s"$directory/$topic", _ => new TopicLog(Path.of(directory, topic)))

  /** Forgets a deleted topic, so that a new one of the same name is read from its start. */
  def forget(directory: String, topic: String): Unit = known.remove(s"$directory/$topic")

  def exists(directory: String, topic: String): Boolean = Files.exists(Path.of(directory, topic, "topic.json"))

  /** Creates a topic that a record is routed to, unless it exists already. */
  def create(directory: String, topic: String, partitions: Int): Unit = {
    if (!topic.matches("[a-zA-Z0-9._-]{1,249}") || topic == "." || topic == "..") {
      throw new TopicException(
        s"'$topic' is not a valid topic name: use letters, digits, '.', '_' and '-', at most 249 of them.")
    }
    val home = Path.of(directory)
    Files.createDirectories(home)
    val made = Files.createTempDirectory(home, "~new-")
    val id = java.util.UUID.randomUUID.toString.replace("-", "")
    Files.createDirectory(made.resolve("segments"))
    Files.createFile(made.resolve("lock"))
    val t = json.createObjectNode.put("format", 1).put("name", topic).put("id", id)
      .put("partitions", partitions).put("created", System.currentTimeMillis)
    t.putObject("config")
    val m = json.createObjectNode.put("format", 1).put("id", id).put("version", 0)
    val list = m.putArray("partitions")
    (0 until partitions).foreach { _ =>
      val p = list.addObject().put("start", 0L).put("end", 0L)
      p.putArray("segments")
    }
    m.putObject("writers")
    m.putArray("trash")
    replace(made.resolve("topic.json"), t)
    replace(made.resolve("manifest.json"), m)
    try Files.move(made, home.resolve(topic), StandardCopyOption.ATOMIC_MOVE)
    catch {
      case e: java.nio.file.FileSystemException =>
        delete(made)
        if (!exists(directory, topic)) throw e
    }
  }

  private def delete(directory: Path): Unit = {
    val all = Files.walk(directory)
    try all.iterator.asScala.toSeq.reverse.foreach(p => Files.deleteIfExists(p)) finally all.close()
  }

  private def replace(file: Path, content: JsonNode): Unit = {
    val temporary = file.resolveSibling(s"${file.getFileName}.${java.util.UUID.randomUUID}.tmp")
    try {
      val channel = FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)
      try {
        val bytes = java.nio.ByteBuffer.wrap(json.writeValueAsString(content).getBytes(UTF_8))
        while (bytes.hasRemaining) channel.write(bytes)
        channel.force(true)
      } finally channel.close()
      Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING)
    } finally Files.deleteIfExists(temporary)
    sync(file.getParent)
  }

  private def sync(directory: Path): Unit = {
    val channel = FileChannel.open(directory, StandardOpenOption.READ)
    try channel.force(true) finally channel.close()
  }
}
