package brookmere.kernel.topics

import java.util.HashMap

/** The positions of records in the order of arrival, five numbers per record, in one growing array. */
final class Places {
  private var all = new Array[Long](64 * Places.Width)
  private var count = 0

  def size: Int = count
  def array: Array[Long] = java.util.Arrays.copyOf(all, count * Places.Width)

  def add(clock: Long, source: Long, seq: Long, due: Long, step: Long): Unit = {
    if ((count + 1) * Places.Width > all.length) all = java.util.Arrays.copyOf(all, all.length * 2)
    val at = count * Places.Width
    all(at) = clock
    all(at + 1) = source
    all(at + 2) = seq
    all(at + 3) = due
    all(at + 4) = step
    count += 1
  }

  /** The rows in order, or null if they are in order already. They come as few ascending runs. */
  def sorted(): Array[Int] = {
    val starts = Array.newBuilder[Int]
    var i = 0
    while (i < count) {
      if (i == 0 || Places.compare(all, i - 1, all, i) > 0) starts += i
      i += 1
    }
    val runs = starts.result()
    if (runs.length <= 1) null
    else {
      val out = new Array[Int](count)
      val ends = runs.drop(1) :+ count
      val sources = runs.indices.map(r => new Places.Run(all, runs(r), ends(r))).toArray
      Places.merge(sources) { (run, row, n) => out(n) = row }
      out
    }
  }
}

object Places {
  val Width = 5

  /** Compares two rows, each of its own array. */
  def compare(a: Array[Long], i: Int, b: Array[Long], j: Int): Int = {
    var f = 0
    while (f < Width) {
      val c = java.lang.Long.compare(a(i * Width + f), b(j * Width + f))
      if (c != 0) return c
      f += 1
    }
    0
  }

  /** Ascending rows from `at` up to but not including `end`. */
  final class Run(val places: Array[Long], var at: Int, val end: Int) {
    def isBefore(o: Run): Boolean = compare(places, at, o.places, o.at) <= 0
  }

  /** Calls `take` with the number of the run, the row in it and the number of the row, in order. */
  def merge(runs: Array[Run])(take: (Int, Int, Int) => Unit): Unit = {
    val heap = new java.util.PriorityQueue[Int](math.max(runs.length, 1),
      (a: Int, b: Int) => {
        val c = compare(runs(a).places, runs(a).at, runs(b).places, runs(b).at)
        if (c != 0) c else a - b
      })
    runs.indices.foreach(r => if (runs(r).at < runs(r).end) heap.add(r))
    var n = 0
    while (!heap.isEmpty) {
      val r = heap.poll()
      val run = runs(r)
      val second: Run = if (heap.isEmpty) null else runs(heap.peek())
      // A run continues alone while its rows come before those of the others.
      do {
        take(r, run.at, n)
        n += 1
        run.at += 1
      } while (run.at < run.end && (second == null || run.isBefore(second)))
      if (run.at < run.end) heap.add(r)
    }
  }
}

/** A segment that a Spark task has written, and the positions of its records; null if they have none. */
final case class StagedSegment(topic: String, segment: NewSegment, places: Array[Long])

/** What one Spark task writes: per topic and partition a segment. */
final class Staging(directory: String) {
  private final class Part(val topic: TopicLog, val partition: Int) {
    val records = new SegmentBuilder
    val places = new Places
  }
  private val topics = new HashMap[String, Array[Part]]()
  private val logs = new HashMap[String, TopicLog]()

  def log(topic: String): TopicLog =
    logs.computeIfAbsent(topic, t => { TopicLog.forget(directory, t); TopicLog(directory, t) })

  private def part(topic: String, partition: Int): Part = {
    var parts = topics.get(topic)
    if (parts == null) {
      parts = new Array[Part](log(topic).settings.partitions)
      topics.put(topic, parts)
    }
    if (parts(partition) == null) parts(partition) = new Part(log(topic), partition)
    parts(partition)
  }

  def records(topic: String, partition: Int): SegmentBuilder = part(topic, partition).records
  def places(topic: String, partition: Int): Places = part(topic, partition).places

  /** Writes the segments; they are not visible until a manifest lists them. */
  def write(): Array[StagedSegment] = {
    val parts = topics.values.toArray(Array.empty[Array[Part]]).flatten.filter(p => p != null && p.records.rows > 0)
    parts.map { p =>
      val placed = p.places.size > 0
      val order = if (placed) p.places.sorted() else null
      val written = p.records.write(p.topic.segments, p.partition, order)
      val places = if (!placed) null else if (order == null) p.places.array else permuted(p.places.array, order)
      StagedSegment(p.topic.name, written, places)
    }
  }

  private def permuted(all: Array[Long], order: Array[Int]): Array[Long] = {
    val out = new Array[Long](all.length)
    order.indices.foreach(i => System.arraycopy(all, order(i) * Places.Width, out, i * Places.Width, Places.Width))
    out
  }
}

/** Adds what the Spark tasks of a batch have written to the topics. */
object Staging {
  def commit(directory: String, staged: Seq[StagedSegment], writer: BatchWriter): Unit =
    staged.groupBy(_.topic).toSeq.sortBy(_._1).foreach { case (topic, all) =>
      val log = TopicLog(directory, topic)
      val segments =
        all.groupBy(_.segment.partition).toSeq.sortBy(_._1).flatMap { case (_, parts) => inOrder(log, parts) }
      if (!log.append(segments, Some(writer))) segments.foreach(s => drop(log, s))
    }

  def discard(directory: String, staged: Seq[StagedSegment]): Unit =
    staged.foreach(s => drop(TopicLog(directory, s.topic), s.segment))

  private def drop(log: TopicLog, s: NewSegment): Unit =
    java.nio.file.Files.deleteIfExists(log.segments.resolve(s.file))

  /** The segments of several tasks for one partition: unchanged if they follow each other, else merged into one. */
  private def inOrder(log: TopicLog, parts: Seq[StagedSegment]): Seq[NewSegment] =
    if (parts.length == 1 || parts.exists(_.places == null)) parts.map(_.segment)
    else {
      val byStart = parts.sortWith((a, b) => Places.compare(a.places, 0, b.places, 0) < 0)
      val apart = byStart.zip(byStart.tail)
        .forall { case (a, b) => Places.compare(a.places, a.segment.rows - 1, b.places, 0) <= 0 }
      if (apart) byStart.map(_.segment) else Seq(merged(log, byStart))
    }

  private def merged(log: TopicLog, parts: Seq[StagedSegment]): NewSegment = {
    val rows = parts.map(p => new Rows(Segment.staged(log.segments.resolve(p.segment.file)))).toArray
    val out = new SegmentBuilder
    Places.merge(parts.map(p => new Places.Run(p.places, 0, p.segment.rows)).toArray)(
      (part, _, _) => rows(part).move(out))
    val written = out.write(log.segments, parts.head.segment.partition, null)
    parts.foreach(p => drop(log, p.segment))
    written
  }

  /** Iterates over the rows of a segment. */
  private final class Rows(segment: Segment) {
    private var batch = 0
    private var i = 0
    def move(to: SegmentBuilder): Unit = {
      while (i >= segment.batches(batch).rows) { batch += 1; i = 0 }
      to.add(segment.batches(batch), i)
      i += 1
    }
  }
}
