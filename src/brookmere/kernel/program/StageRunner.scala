package brookmere.kernel.program

import brookmere.kernel.core._
import brookmere.kernel.rows._

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Feeds rows of the layout to the processors of a stage. */
final class StageRunner(stage: Stage) extends StageWork {
  private val width = if (stage.entries.isEmpty) 0 else stage.entries.map(_.node).max + 1
  private val entries = new Array[Entrance](width)
  private val keyRows = new Array[UnsafeRow](width)
  private val valueRows = new Array[UnsafeRow](width)
  private val oldRows = new Array[UnsafeRow](width)
  private val change = new UnsafeRow(2)
  stage.processors.foreach(_.open())
  stage.entries.foreach { e =>
    entries(e.node) = e
    keyRows(e.node) = new UnsafeRow(e.keyFields)
    valueRows(e.node) = new UnsafeRow(e.valueFields)
    oldRows(e.node) = new UnsafeRow(e.valueFields)
  }

  override def attach(task: Task): Unit = stage.processors.foreach(_.attach(task))

  override def accept(task: Task, row: UnsafeRow): Unit = {
    val node = row.getInt(Layout.Node)
    if (node == Layout.TickNode && row.getLong(Layout.Seq) == stage.number) return clock(task, row)
    val entry = if (node >= 0 && node < width) entries(node) else null
    if (entry == null) task.pass(row)
    else {
      val ts = row.getLong(Layout.Ts)
      task.at(row)
      task.headers(row, Layout.Headers)
      val key = Rows.slice(row, Layout.Key, keyRows(node))
      if (entry.isTable) {
        val pair = Rows.slice(row, Layout.Value, change)
        task.isLatest = Change.isLatest(pair)
        entry.target.receive(key, Rows.slice(pair, 0, valueRows(node)), Rows.slice(pair, 1, oldRows(node)), ts)
        task.isLatest = true
      } else entry.target.receive(key, Rows.slice(row, Layout.Value, valueRows(node)), null, ts)
    }
  }

  /** Hands a record to its node in a dry run: nothing is counted, and what fails here will fail again. */
  def rehearse(row: UnsafeRow): Unit = {
    val node = row.getInt(Layout.Node)
    val entry = entries(node)
    val ts = row.getLong(Layout.Ts)
    val key = Rows.slice(row, Layout.Key, keyRows(node))
    try {
      if (entry.isTable) {
        val pair = Rows.slice(row, Layout.Value, change)
        entry.target.process(key, Rows.slice(pair, 0, valueRows(node)), Rows.slice(pair, 1, oldRows(node)), ts)
      } else entry.target.process(key, Rows.slice(row, Layout.Value, valueRows(node)), null, ts)
    } catch { case Guarded(_) => }
  }

  private def clock(task: Task, row: UnsafeRow): Unit = {
    val wall = row.getLong(Layout.Ts)
    task.wall = wall
    if (Ticks.isTick(row)) {
      task.atTick(row)
      stage.processors.foreach(_.ring(wall))
      task.ticked()
    }
  }

  override def earlier(): Iterator[Unit] = stage.processors.iterator.flatMap(_.earlier())

  override def endBatch(): Unit = stage.processors.foreach(_.endBatch())

  override def collect(sums: Array[Long]): Unit = Counters.collect(stage.processors, sums)
}

/** Feeds raw records to stage 0: decodes them, gives them their place, runs what needs no state. */
final class SourceRunner(program: Program) {
  private val stage = program.stages(0)
  private val runner = new StageRunner(stage)
  private val tasks = new java.util.HashMap[Integer, Task]()
  private val clocks = new java.util.HashMap[Integer, Array[Long]]()
  private var current: Task = null
  private var lastSource = -1
  private var clock: Array[Long] = null
  /** The wall clock of the batch, if its rows carry it. */
  private var wall = Long.MinValue
  private var kind = Ticks.Tell
  private lazy val ticking = new Task(0, 0, program.settings, program.slots)

  /** Processes a record; its results are in the buffer of the task that is returned. */
  def accept(raw: UnsafeRow): Task = {
    val topic = raw.getInt(RawLayout.Topic)
    if (topic == RawLayout.TickTopic) return tell(raw)
    val partition = raw.getInt(RawLayout.Partition)
    val reader = stage.sources(topic)
    if (current == null || current.number != partition) {
      current = tasks.computeIfAbsent(partition, p => new Task(0, p, program.settings, program.slots))
      runner.attach(current)
    }
    val task = current
    task.out.clear()
    task.raw = raw
    val own = raw.getLong(RawLayout.Ts)
    val source = SourceNumber.of(topic, partition)
    val seq = raw.getLong(RawLayout.Offset)
    // A record that cannot be read is ordered by its own time, which moves no clock.
    task.at(place(reader, raw, math.max(own, latest(source, Long.MinValue))), source, seq, own)
    headers(task, raw)
    val ts = reader.read(raw, wall, latest(source, Long.MinValue))
    if (ts != SourceReader.Unreadable) {
      task.at(place(reader, raw, latest(source, ts)), source, seq, ts)
      reader.emit(ts)
    }
    task
  }

  /** Sends what was held back until the end of the batch, task by task. */
  def endBatch(): Iterator[Task] = {
    val all = tasks.values.toArray(Array.empty[Task]).sortBy(_.number)
    all.iterator.map { task =>
      runner.attach(task)
      current = task
      task.out.clear()
      task.raw = null
      runner.endBatch()
      task
    } ++ tick()
  }

  /** Records the wall clock, and sends it to the stages that use it. */
  private def tell(raw: UnsafeRow): Task = {
    wall = raw.getLong(RawLayout.Ts)
    kind = raw.getLong(RawLayout.Offset)
    ticking.out.clear()
    if (kind != Ticks.Tell) eachTask((slot, stage) => Ticks.tell(ticking.out, slot, stage, wall))
    ticking
  }

  /** The tick after the records of the batch. */
  private def tick(): Iterator[Task] =
    if (kind != Ticks.Tick && kind != Ticks.TickBusy) Iterator.empty
    else {
      val busy = kind == Ticks.TickBusy
      kind = Ticks.Tell
      ticking.out.clear()
      eachTask((slot, stage) => Ticks.tick(ticking.out, slot, stage, wall, busy))
      Iterator.single(ticking)
    }

  private def eachTask(add: (Int, Int) => Unit): Unit =
    program.stages.foreach(s => if (s.number > 0 && s.needsTicks) program.slots.foreach(slot => add(slot, s.number)))

  private def place(reader: SourceReader, raw: UnsafeRow, byTime: Long): Long =
    if (!raw.isNullAt(RawLayout.Clock)) raw.getLong(RawLayout.Clock)
    else if (reader.broadcast) Long.MinValue
    else byTime

  /** The highest time so far of the source partition. */
  private def latest(source: Int, ts: Long): Long = {
    if (source != lastSource || clock == null) {
      clock = clocks.computeIfAbsent(source, _ => Array(Long.MinValue))
      lastSource = source
    }
    if (ts > clock(0)) clock(0) = ts
    clock(0)
  }

  private def headers(task: Task, raw: UnsafeRow): Unit =
    if (raw.isNullAt(RawLayout.Headers)) task.noHeaders()
    else {
      val at = raw.getLong(RawLayout.Headers)
      task.headers(Rows.single(raw.getBaseObject, raw.getBaseOffset + (at >>> 32).toInt, at.toInt))
    }

  def collect(sums: Array[Long]): Unit = runner.collect(sums)

  /** The highest time so far of each topic's records; skipped records do not count. */
  def latestTimes: Array[Long] = {
    val times = Array.fill(program.settings.topics.length)(Long.MinValue)
    clocks.forEach { (source, clock) =>
      val topic = SourceNumber.topic(source)
      times(topic) = math.max(times(topic), clock(0))
    }
    times
  }
}
