package brookmere.kernel.local

import java.util.{ArrayList, HashMap => JMap}

import brookmere.kernel.core._
import brookmere.kernel.expr.Compile
import brookmere.kernel.program._
import brookmere.kernel.python.workers.Dialogue
import brookmere.kernel.rows._
import brookmere.kernel.state._

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Runs a program in memory, without a query: the engine of the test driver. It uses the same processors, stores and
 * order of arrival as a query; a call of `run` is a micro-batch.
 */
final class LocalRunner(program: Program, routed: java.util.Set[Integer]) {
  private val port = new Dialogue
  private var (sources, chains) = made()
  private def made(): (SourceChain, Array[Chain]) = Compile.interpreting {
    (new SourceChain(program, work), program.chains.tail.map(stages => new Chain(stages, work)))
  }
  private val backends = chains.map(_ => new LocalBackend)
  private val caches = chains.map(_ => new JMap[String, AnyRef]())
  private val tasks = new JMap[String, Array[Task]]()
  private val sums = new Array[Long](program.nodeCount * Counters.Kinds)
  private val routes: Set[Int] = { val b = Set.newBuilder[Int]; routed.forEach(n => b += n.intValue); b.result() }
  private var batch = 0

  /** Feeds records as one batch and returns the output, in order of arrival. */
  def run(records: Array[Byte]): Array[Byte] = {
    batch += 1
    tasks.clear()
    var rows = new ArrayList[UnsafeRow]()
    val raw = Inputs.read(records).iterator
    while (sources.step(raw)) if (!sources.isEmpty) drain(sources.out, rows)
    chains.indices.foreach { c => rows = feed(c, rows) }
    val sorted = rows.toArray(new Array[UnsafeRow](0))
    java.util.Arrays.sort(sorted, Layout.order)
    val out = new Outputs(routes)
    sorted.foreach(r => out.add(r, program.slots.indexOf(r.getInt(Layout.Task))))
    out.result()
  }

  private def work(stage: Stage): StageWork = StageWork.of(stage, program.settings, port)

  /** Like `run`, for a program with Python stages: returns the first messages for their worker, or null. */
  def start(records: Array[Byte]): Array[Byte] = port.begin(() => run(records))
  /** Passes on a response of the worker and returns the next messages for it; null when the batch is done. */
  def reply(message: Array[Byte]): Array[Byte] = port.reply(message)
  /** The output of a finished batch. */
  def finished(): Array[Byte] = port.finished()
  /** Abandons a batch whose worker does not answer. */
  def abort(): Unit = port.abort()

  private def feed(c: Int, rows: ArrayList[UnsafeRow]): ArrayList[UnsafeRow] = {
    val out = new ArrayList[UnsafeRow]()
    val chain = chains(c)
    var parts: Array[Task] = null
    def settle(): Unit = do drain(chain.out, out) while (chain.advance())
    def finish(): Unit = if (parts != null) {
      while (chain.end()) settle()
      parts.head.flush()
    }
    val i = rows.iterator
    val merged = new TaskMerge(new Iterator[InternalRow] {
      override def hasNext: Boolean = i.hasNext
      override def next(): InternalRow = i.next()
    })
    merged.foreach { r =>
      val row = r.asInstanceOf[UnsafeRow]
      val number = program.slots.indexOf(row.getInt(Layout.Task))
      if (parts == null || parts.head.number != number) {
        finish()
        parts = partsOf(c, number)
        chain.attach(parts)
      }
      chain.accept(row)
      settle()
    }
    finish()
    out
  }

  private def drain(from: RowBuffer, into: ArrayList[UnsafeRow]): Unit =
    while (!from.isEmpty) into.add(from.pull().copy())

  /**
   * A task at the start of a batch: with its stores opened on the state, and its stream time; a part for every stage.
   */
  private def partsOf(c: Int, number: Int): Array[Task] = {
    val parts = tasks.computeIfAbsent(s"$c/$number", _ => newParts(c, number))
    parts.head.allStores.foreach(_.batch = batch)
    parts
  }

  private def newParts(c: Int, number: Int): Array[Task] = {
    val stages = chains(c).stages
    val times = new Times(backends(c), number)
    val stores = Store.open(stages.flatMap(_.stores), backends(c), number, times, caches(c), program.settings.limits)
    Chain.tasks(stages, number, program.settings, program.slots, stores, times)
  }

  /** Forgets everything that is not in the state, as a restart does. */
  def restart(): Unit = {
    tasks.clear()
    caches.foreach(_.clear())
    port.forgetTasks()
    counters()
    // Rows of an abandoned batch may still be in them.
    val fresh = made()
    sources = fresh._1
    chains = fresh._2
  }

  /** The rows of a store, of all tasks: pickled keys, pickled values, and the times. */
  def store(name: String): StoreRows = {
    val found = for {
      c <- chains.indices
      d <- chains(c).stages.toSeq.flatMap(_.stores) if d.name == name
      number <- program.slots.indices
    } yield (d, if (d.groups.isEmpty) partsOf(c, number).head.store(name).all().map(StoreRow(_)).toSeq
      else { val s = partsOf(c, number).head.groups(name); StoreRow.of(d, s.rows()) })
    if (found.isEmpty) null
    else new StoreRows(found.head._1, found.flatMap(_._2))
  }

  def counters(): Array[Long] = {
    sources.collect(sums)
    chains.foreach(_.collect(sums))
    sums
  }

  def streamTime(stage: Int, number: Int): Long = {
    val c = program.chainOf(stage) - 1
    partsOf(c, number)(chains(c).stages.indexWhere(_.number == stage)).streamTime
  }
}

