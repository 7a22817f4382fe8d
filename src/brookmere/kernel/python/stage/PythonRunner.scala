package brookmere.kernel.python.stage

import java.util.{HashMap => JMap, HashSet => JSet}

import brookmere.kernel.core._
import brookmere.kernel.ops.output.Changelog
import brookmere.kernel.program.{Stage, StageWork}
import brookmere.kernel.python.marshal.{MarshalIn, MarshalOut}
import brookmere.kernel.python.stores.StorePort
import brookmere.kernel.python.workers.{Port, WorkerFailed}
import brookmere.kernel.rows._
import brookmere.kernel.state.Clock

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Runs a stage of Python nodes: sends rows to a worker in chunks, and emits the results in the order of the rows.
 * Chunks end between root records, so all consequences of one record are in one of them.
 */
final class PythonRunner(stage: Stage, settings: Settings, port: Port) extends StageWork {
  private val nodes = {
    val all = stage.processors.collect { case n: PythonNode => n }
    val byNumber = new Array[PythonNode](all.map(_.id + 1).maxOption.getOrElse(0))
    all.foreach(n => byNumber(n.id) = n)
    byNumber
  }
  private val entries = new Entries(stage)
  private val message = new ChunkMessage(entries, stage.number)
  private val stores = new StorePort(stage.stores, PythonRunner.logs(stage))
  private val answer = new Answer(nodes, stores)
  private val results = new Results(nodes, answer, entries)
  private val out = new MarshalOut
  private val request = new MarshalIn
  private val row = new UnsafeRow(Layout.Fields)
  private val chunks = new JMap[Integer, Chunk]()
  /** Tasks whose batch the worker has started. */
  private val begun = new JSet[Integer]()
  private var task: Task = _
  private var chunk: Chunk = _
  stage.processors.foreach(_.open())

  /** Each task has a chunk of its own: tasks may take turns within a batch. */
  override def attach(task: Task): Unit = {
    this.task = task
    chunk = chunks.computeIfAbsent(task.number, _ => new Chunk)
    stage.processors.foreach(_.attach(task))
    if (stage.stores.nonEmpty) stores.attach(task)
  }

  override def earlier(): Iterator[Unit] = stage.processors.iterator.flatMap(_.earlier())

  override def accept(task: Task, row: UnsafeRow): Unit = {
    if (chunk.isFull && !chunk.isSameRoot(row)) exchange()
    val isAsked = entries.takes(row)
    if (!isAsked && chunk.isEmpty) task.pass(row) else chunk.add(row, isAsked)
  }

  override def endBatch(): Unit = {
    if (!chunk.isEmpty) exchange()
    if (begun.contains(task.number)) {
      out.begin()
      out.tuple(2)
      out.int(stage.number)
      out.int(task.number)
      port.send('E', out.bytes, out.size)
      answer.read(await())
      task.noHeaders()
      results.begin(task)
      results.of(PythonRunner.AtEnd, null)
      begun.remove(task.number)
      // Stores keep their times themselves.
      answer.clocks.forEach(c => if (!c._1.startsWith(Clock.ofStore(""))) task.clock(c._1).time = c._2)
      if (stage.stores.nonEmpty) stores.writeLogs()
    }
    stage.processors.foreach(_.endBatch())
  }

  /** Lets the worker process the rows of the chunk, and emits the results. */
  private def exchange(): Unit = {
    if (chunk.askedCount > 0) {
      if (begun.add(task.number)) begin()
      message.write(chunk, task.number, out)
      port.send('C', out.bytes, out.size)
      answer.read(await())
    }
    bringOut()
    chunk.clear()
    if (!settings.lastPerBatch && stage.stores.nonEmpty) stores.writeLogs()
  }

  private def begin(): Unit = {
    if (port.introduce(stage.number)) {
      out.begin()
      out.tuple(2)
      out.int(stage.number)
      out.binary(stage.python.code)
      port.send('D', out.bytes, out.size)
    }
    out.begin()
    out.tuple(5)
    out.int(stage.number)
    out.int(task.number)
    out.bool(port.isFresh(stage.number, task.number))
    out.dict()
    val known = new JSet[String]()
    def clock(name: String, time: Long): Unit = if (known.add(name)) { out.text(name); out.int(time) }
    if (stage.stores.nonEmpty) stores.times(clock)
    task.eachClock(clock)
    out.endDict()
    val wall = wallClock()
    if (wall == Clock.Never) out.none() else out.int(wall)
    port.send('B', out.bytes, out.size)
  }

  /** The wall clock of the batch: the row that carries it comes first. */
  private def wallClock(): Long = {
    var i = 0
    while (i < chunk.count && !entries.isClock(chunk.row(i, row))) i += 1
    if (i < chunk.count) row.getLong(Layout.Ts) else task.wall
  }

  /** Answers the worker's requests until it sends the result. */
  private def await(): Array[Byte] = {
    var m = port.receive()
    while (m.kind == 'S') {
      request.set(m.payload)
      out.begin()
      stores.answer(request, out)
      port.send('A', out.bytes, out.size)
      m = port.receive()
    }
    m.kind match {
      case 'R' => m.payload
      case 'X' =>
        request.set(m.payload)
        throw new WorkerFailed(request.text())
      case other => throw new IllegalStateException(s"the worker sent a message '$other' instead of a result")
    }
  }

  private def bringOut(): Unit = {
    results.begin(task)
    var asked = 0
    val n = chunk.count
    var i = 0
    while (i < n) {
      val r = chunk.row(i, row)
      if (!chunk.isAsked(i)) task.pass(r)
      else {
        turnTo(r)
        results.of(asked, r)
        if (entries.isClock(r) && Ticks.isTick(r)) task.ticked()
        asked += 1
      }
      i += 1
    }
  }

  /** Makes a row the cause of what follows. */
  private def turnTo(r: UnsafeRow): Unit =
    if (!entries.isClock(r)) { task.at(r); task.headers(r, Layout.Headers) }
    else {
      task.wall = r.getLong(Layout.Ts)
      if (Ticks.isTick(r)) task.atTick(r)
    }

  override def collect(sums: Array[Long]): Unit = Counters.collect(stage.processors, sums)
}

private[python] object PythonRunner {
  /** The position of what is emitted at the end of the batch. */
  private val AtEnd = 0

  /** The changelogs of the stage's stores, by store. */
  private def logs(stage: Stage): Map[String, Processor] =
    stage.processors.collect { case c: Changelog => c.of.name -> c }.toMap
}
