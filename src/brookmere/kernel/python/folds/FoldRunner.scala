package brookmere.kernel.python.folds

import java.util.{HashMap => JMap}

import brookmere.kernel.core._
import brookmere.kernel.ops.tables.TableProcessor
import brookmere.kernel.program.{Entrance, Stage, StageRunner, StageWork}
import brookmere.kernel.python.marshal.{MarshalIn, MarshalOut, MarshalRow}
import brookmere.kernel.python.stage.Chunk
import brookmere.kernel.python.workers.{Port, WorkerFailed}
import brookmere.kernel.rows._
import brookmere.kernel.state.Overlays

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Runs a stage of aggregates whose functions are Python. It waits for some thousand records. A dry run, on overlays of
 * the stores, finds the calls that they make; the worker makes all of them; then the records run.
 *
 * A dry run assumes that no function fails, and where the next calls depend on it, that none returns None. The worker
 * stops at the first that does, and the records from there on have another dry run.
 */
final class FoldRunner(stage: Stage, port: Port) extends StageWork {
  private val runner = new StageRunner(stage)
  private val nodes = stage.processors.collect { case t: TableProcessor if t.python != null => t }
  private val entries = {
    val byNumber = new Array[FoldEntry](stage.entries.map(_.node + 1).maxOption.getOrElse(0))
    stage.entries.foreach(e => e.target match {
      case t: TableProcessor if t.python != null => byNumber(e.node) = new FoldEntry(e, t)
      case _ =>
    })
    byNumber
  }
  private val calls = new FoldCalls(FoldCalls.functionsOf(nodes.toSeq.map(n => n.name -> n.python)))
  private val takesKeys = nodes.exists(_.python.takesKey)
  private val hasTables = stage.entries.exists(e => e.isTable && e.node < entries.length && entries(e.node) != null)
  private val out = new MarshalOut
  private val in = new MarshalIn
  private val row = new UnsafeRow(Layout.Fields)
  private val chunks = new JMap[Integer, Chunk]()
  private var task: Task = _
  private var chunk: Chunk = _
  /** The places in the chunk of the records that make calls. */
  private var callers = new Array[Int](1 << 10)
  nodes.foreach(_.folds = calls)

  override def attach(task: Task): Unit = {
    this.task = task
    chunk = chunks.computeIfAbsent(task.number, _ => new Chunk)
    runner.attach(task)
  }

  override def earlier(): Iterator[Unit] = runner.earlier()

  override def accept(task: Task, row: UnsafeRow): Unit = {
    val node = row.getInt(Layout.Node)
    val isAsked = node >= 0 && node < entries.length && entries(node) != null
    // A tick moves the clocks of aggregates.
    if (chunk.isFull || (node == Layout.TickNode && row.getLong(Layout.Seq) == stage.number)) exchange()
    if (!isAsked && chunk.isEmpty) runner.accept(task, row) else chunk.add(row, isAsked)
  }

  override def endBatch(): Unit = {
    exchange()
    runner.endBatch()
  }

  private def exchange(): Unit = if (!chunk.isEmpty) {
    var from = 0
    var most = chunk.count
    while (from < chunk.count) {
      val until = math.min(chunk.count, from + most)
      val done = exchange(from, until)
      // After a stop try fewer records at a time: a dry run beyond the next stop is wasted.
      most = if (done < until) FoldRunner.Few else most * 2
      from = done
    }
    chunk.clear()
  }

  /** Runs records of the chunk, all or up to where the worker has stopped; returns the place of the next one. */
  private def exchange(from: Int, until: Int): Int = {
    dryRun(from, until)
    var end = until
    if (calls.count > 0) {
      introduce()
      write()
      port.send('F', out.bytes, out.size)
      in.set(await())
      calls.read(in)
      if (!calls.isComplete) end = callers(calls.stoppedAt) + (if (calls.hasFailed) 1 else 0)
    }
    var i = from
    while (i < end) { runner.accept(task, chunk.row(i, row)); i += 1 }
    if (end > from) calls.forget()
    if (end < until && !calls.hasFailed) calls.keep(calls.stoppedAt)
    end
  }

  private def dryRun(from: Int, until: Int): Unit = {
    val overlays = new Overlays
    nodes.foreach(_.beginDryRun(overlays))
    calls.beginDryRun()
    try {
      var i = from
      while (i < until) {
        if (chunk.isAsked(i)) {
          calls.nextRecord()
          runner.rehearse(chunk.row(i, row))
          if (calls.hasCalls) {
            val n = calls.recordCount
            if (n > callers.length) callers = java.util.Arrays.copyOf(callers, n * 2)
            callers(n - 1) = i
          }
        }
        i += 1
      }
    } finally {
      calls.endDryRun()
      nodes.foreach(_.endDryRun())
    }
  }

  private def introduce(): Unit = if (port.introduce(stage.number)) {
    out.begin()
    out.tuple(2)
    out.int(stage.number)
    out.binary(stage.python.code)
    port.send('D', out.bytes, out.size)
  }

  private def write(): Unit = {
    out.begin()
    out.tuple(9)
    out.int(stage.number)
    calls.write(out)
    if (takesKeys) column((e, r) => e.writeKey(r, out)) else out.none()
    column((e, r) => e.writeValue(r, out))
    if (hasTables) column((e, r) => e.writeOld(r, out)) else out.none()
  }

  private def column(one: (FoldEntry, UnsafeRow) => Unit): Unit = {
    val n = calls.recordCount
    out.list(n)
    var i = 0
    while (i < n) { val r = chunk.row(callers(i), row); one(entries(r.getInt(Layout.Node)), r); i += 1 }
  }

  private def await(): Array[Byte] = {
    val m = port.receive()
    m.kind match {
      case 'R' => m.payload
      case 'X' =>
        in.set(m.payload)
        throw new WorkerFailed(in.text())
      case other => throw new IllegalStateException(s"the worker sent a message '$other' where a result is due")
    }
  }

  override def collect(sums: Array[Long]): Unit = runner.collect(sums)
}

private[python] object FoldRunner {
  private val Few = 64
}

/** Writes the keys and values of records for an aggregate. */
private[python] final class FoldEntry(e: Entrance, of: TableProcessor) {
  private val value = new MarshalRow(of.python.value)
  private val key = new MarshalRow(of.python.key)
  private val keyRow = new UnsafeRow(e.keyFields)
  private val valueRow = new UnsafeRow(e.valueFields)
  private val change = new UnsafeRow(2)

  def writeKey(row: UnsafeRow, out: MarshalOut): Unit = key.write(Rows.slice(row, Layout.Key, keyRow), out)
  def writeValue(row: UnsafeRow, out: MarshalOut): Unit =
    value.write(if (e.isTable) part(row, 0) else Rows.slice(row, Layout.Value, valueRow), out)
  def writeOld(row: UnsafeRow, out: MarshalOut): Unit = value.write(if (e.isTable) part(row, 1) else null, out)
  private def part(row: UnsafeRow, i: Int): UnsafeRow = Rows.slice(Rows.slice(row, Layout.Value, change), i, valueRow)
}
