package brookmere.kernel.core

import brookmere.kernel.expr.Writer
import brookmere.kernel.rows._
import brookmere.kernel.state.{Clock, GroupStore, Kept, Line, Store, Times}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The work of one stage on one task: the current record, its position in the order of arrival, the task's stores, and
 * the buffer for what leaves the stage. `place` is the stage's position in its chain.
 */
final class Task(
    val stage: Int, val number: Int, val settings: Settings, slots: Array[Int],
    stores: Map[String, Kept] = Map.empty, times: Times = null, place: Int = 0) {
  val out = new RowBuffer
  var clock = 0L
  var source = 0
  var seq = 0L
  private var due = StepNumber.FirstDue
  private var hop = 0
  private var position = 0L
  private var count = 0L
  /** Headers of the current record, packed, as a slice; null without headers. */
  var headersBase: AnyRef = null
  var headersOffset = 0L
  var headersSize = 0
  var timestamp = 0L
  private val taskClock = clock(Clock.StreamTime)
  /** The greatest timestamp that a record of this task had. */
  def streamTime: Long = taskClock.time
  /** The wall clock of the batch; Never in a program that does not use it. */
  var wall: Long = Clock.Never
  /** The wall clock at the last record of this task, and at its last tick. */
  private lazy val lastRecord = clock(Clock.LastRecord)
  private lazy val lastTick = clock(Clock.LastTick)

  def store(name: String): Store = stores(name).asInstanceOf[Store]
  def groups(name: String): GroupStore = stores(name).asInstanceOf[GroupStore]

  /** The rows of a store whose results are sent at the end of the batch. */
  def line(store: String): Line = lines.getOrElseUpdate(store, new Line)
  private val lines = scala.collection.mutable.HashMap.empty[String, Line]

  /** A clock that the task remembers, at `first` until it is set. Without state nothing is remembered. */
  def clock(name: String, first: Long = Clock.Never): Clock =
    if (times == null) new Clock(name, first) else times.clock(Clock.inChain(name, place), first)

  /** Calls `f` with the names and times of all clocks that were ever set, except those of other stages of the chain. */
  def eachClock(f: (String, Long) => Unit): Unit =
    if (times != null) times.each((name, time) => Clock.known(name, place).foreach(f(_, time)))

  def allStores: Iterable[Kept] = stores.values

  /** Writes what the batch has changed. */
  def flush(): Unit = {
    stores.values.foreach(_.flush())
    times.flush()
  }

  /** Makes a root record the current record. */
  def at(clock: Long, source: Int, seq: Long, ts: Long): Unit = {
    follow(clock, source, seq)
    due = StepNumber.FirstDue
    hop = 0
    position = 0L
    timestamp = ts
    taskClock.advance(ts)
  }

  /** Restarts the count if the root record is another one. */
  private def follow(clock: Long, source: Int, seq: Long): Unit = if (!isAt(clock, source, seq)) {
    count = 0L
    this.clock = clock
    this.source = source
    this.seq = seq
  }

  /** The next number among the results of the root record in this stage. */
  private def turn(): Long = {
    if (count > (if (stage == 0) StepNumber.MaxPosition else StepNumber.MaxCount)) {
      throw new IllegalStateException(s"one record gave more than $count results; emit fewer per record")
    }
    count += 1
    count - 1
  }

  /** Makes a tick the cause of what follows. Only its position is known. */
  def atTick(row: UnsafeRow): Unit = {
    clock = row.getLong(Layout.Clock)
    source = row.getInt(Layout.Source)
    seq = row.getLong(Layout.Seq)
    count = 0L
    due = StepNumber.FirstDue
    hop = 0
    position = 0L
    timestamp = row.getLong(Layout.Ts)
    noHeaders()
    if (lastRecord.time == Clock.Never || Ticks.isBusy(row)) lastRecord.time = wall
  }

  /** Gives what follows the position `n` before the records of the batch. */
  def ahead(n: Long): Unit = {
    follow(Long.MinValue, 0, n)
    due = StepNumber.FirstDue
    hop = 0
    position = 0L
  }

  /** Remembers that the clock has ticked. */
  def ticked(): Unit = lastTick.time = wall

  /**
   * How long the task has had no record, counted from the last tick, if that is at least `limit` milliseconds in total.
   * At the tick that reaches the limit it is the whole time.
   */
  def idleFor(wall: Long, limit: Long): Long = {
    val idle = wall - lastRecord.time
    if (idle < limit) 0L
    else if (lastTick.time != Clock.Never && lastTick.time - lastRecord.time >= limit) wall - lastTick.time
    else idle
  }

  /** Makes a consequence of a root record the current record. */
  def at(row: UnsafeRow): Unit = {
    if (wall != Clock.Never) lastRecord.time = wall
    at(row.getLong(Layout.Clock), row.getInt(Layout.Source), row.getLong(Layout.Seq), row.getLong(Layout.Ts))
    due = row.getLong(Layout.Due)
    val step = row.getLong(Layout.Step)
    hop = StepNumber.hop(step)
    position = StepNumber.position(step)
  }

  def isAt(clock: Long, source: Int, seq: Long): Boolean =
    clock == this.clock && source == this.source && seq == this.seq

  def headers(row: UnsafeRow, field: Int): Unit =
    if (row.isNullAt(field)) noHeaders()
    else {
      val at = row.getLong(field)
      headersBase = row.getBaseObject
      headersOffset = row.getBaseOffset + (at >>> 32).toInt
      headersSize = at.toInt
    }

  def headers(packed: Array[Byte]): Unit =
    if (packed == null) noHeaders()
    else { headersBase = packed; headersOffset = Rows.Base; headersSize = packed.length }

  def noHeaders(): Unit = { headersBase = null; headersOffset = 0L; headersSize = 0 }

  /** Writes the current headers as a field of a row, for an operator that emits later. */
  def writeHeaders(row: RowWriter, i: Int): Unit =
    if (headersBase == null) row.setNull(i) else row.bytes(i, headersBase, headersOffset, headersSize)

  /** A copy of the current headers, for an operator that emits later. */
  def keepHeaders(): Array[Byte] =
    if (headersBase == null) null
    else {
      val a = new Array[Byte](headersSize)
      org.apache.spark.unsafe.Platform.copyMemory(headersBase, headersOffset, a, Rows.Base, headersSize)
      a
    }

  /** Sends packed rows to a node of a later stage. `queued` is the due time of a repartition, if there is one. */
  def send(toTask: Int, node: Int, key: UnsafeRow, value: UnsafeRow, ts: Long,
      queued: Long = StepNumber.FirstDue): Unit = {
    begin(toTask, node, ts, sizeOf(key) + sizeOf(value), queued)
    put(Layout.Key, key)
    put(Layout.Value, value)
    putHeaders()
  }

  /** Sends a packed key and bytes, for a node of a later stage or for the sink. */
  def sendBytes(toTask: Int, node: Int, key: UnsafeRow, value: Array[Byte], ts: Long,
      queued: Long = StepNumber.FirstDue): Unit = {
    begin(toTask, node, ts, sizeOf(key) + sizeOf(value), queued)
    put(Layout.Key, key)
    put(Layout.Value, value)
    putHeaders()
  }

  /** Sends what two writers have serialised to the sink; null stands for no key or no value. */
  def write(node: Int, key: Writer, value: Writer, ts: Long): Unit = {
    begin(number, node, ts, sizeOf(key) + sizeOf(value), StepNumber.FirstDue)
    put(Layout.Key, key)
    put(Layout.Value, value)
    putHeaders()
  }

  /** Like `write`, without headers. */
  def writeBare(node: Int, key: Writer, value: Writer, ts: Long): Unit = {
    begin(number, node, ts, sizeOf(key) + sizeOf(value), StepNumber.FirstDue)
    put(Layout.Key, key)
    put(Layout.Value, value)
    out.nullField(Layout.Headers)
  }

  /** Sends a serialised key and value to the sink. */
  def write(node: Int, key: Array[Byte], value: Array[Byte], ts: Long): Unit = {
    begin(number, node, ts, sizeOf(key) + sizeOf(value), StepNumber.FirstDue)
    put(Layout.Key, key)
    put(Layout.Value, value)
    putHeaders()
  }

  /**
   * Passes a row on to a later stage unchanged. It gets a number among the results of its root record in this stage:
   * only then can rows of several stages be compared where they meet.
   */
  def pass(row: UnsafeRow): Unit = {
    follow(row.getLong(Layout.Clock), row.getInt(Layout.Source), row.getLong(Layout.Seq))
    val before = row.getLong(Layout.Step)
    val step = StepNumber.of(StepNumber.hop(before), StepNumber.position(before), turn(), stage, number)
    def size(i: Int): Int = if (row.isNullAt(i)) 0 else Rows.padded(row.getLong(i).toInt)
    out.begin(row.getInt(Layout.Task), row.getLong(Layout.Clock), row.getInt(Layout.Source), row.getLong(Layout.Seq),
      row.getLong(Layout.Due), step, row.getInt(Layout.Node), row.getLong(Layout.Ts),
      size(Layout.Key) + size(Layout.Value) + size(Layout.Headers))
    var i = Layout.Key
    while (i <= Layout.Headers) {
      if (row.isNullAt(i)) out.nullField(i)
      else {
        val at = row.getLong(i)
        out.field(i, row.getBaseObject, row.getBaseOffset + (at >>> 32).toInt, at.toInt)
      }
      i += 1
    }
  }

  private def begin(toTask: Int, node: Int, ts: Long, size: Int, queued: Long): Unit = {
    val isQueued = queued != StepNumber.FirstDue
    val nextHop = if (isQueued) hop + 1 else hop
    val n = turn()
    val step =
      if (stage == 0) StepNumber.of(nextHop, n, 0L, stage, number)
      else StepNumber.of(nextHop, position, n, stage, number)
    out.begin(slots(toTask), clock, source, seq, if (isQueued) queued else due, step, node, ts,
      size + Rows.padded(headersSize))
  }
  private def sizeOf(r: UnsafeRow): Int = if (r == null) 0 else Rows.padded(r.getSizeInBytes)
  private def sizeOf(a: Array[Byte]): Int = if (a == null) 0 else Rows.padded(a.length)
  private def sizeOf(w: Writer): Int = if (w == null) 0 else Rows.padded(w.size)
  private def put(i: Int, w: Writer): Unit =
    if (w == null) out.nullField(i) else out.field(i, w.base, w.offset, w.size)
  private def put(i: Int, r: UnsafeRow): Unit =
    if (r == null) out.nullField(i) else out.field(i, r.getBaseObject, r.getBaseOffset, r.getSizeInBytes)
  private def put(i: Int, a: Array[Byte]): Unit =
    if (a == null) out.nullField(i) else out.field(i, a, Rows.Base, a.length)
  private def putHeaders(): Unit =
    if (headersBase == null) out.nullField(Layout.Headers)
    else out.field(Layout.Headers, headersBase, headersOffset, headersSize)

  /** The topic of the current root record. */
  def topic: String = Ticks.topicOf(source, settings.topics)

  /** The record as its topic holds it; known in stage 0 only. */
  var raw: UnsafeRow = null

  /** False while an update of a versioned table is sent that is older than the latest one of its key. */
  var isLatest = true
  private def rawBytes(field: Int): Array[Byte] = if (raw == null || raw.isNullAt(field)) null else raw.getBinary(field)

  /** Applies the handler, the node's own or the program's: throws, or reports the failure as a row and returns. */
  def failed(kind: String, node: String, e: Throwable, ts: Long, own: String = null): Unit = {
    val cause = RecordFailed.cause(e)
    val (reason, trace) = cause match {
      case p: PythonError => (p.reason, p.trace)
      case other => (other.getClass.getName, RecordFailed.trace(e))
    }
    val failure = new RecordFailed(kind, node, number, topic, Ticks.partitionOf(source),
      seq, ts, reason, String.valueOf(cause.getMessage), trace, rawBytes(RawLayout.Key), rawBytes(RawLayout.Value))
    if (if (own == null) !settings.continueOn(kind) else own != Settings.Continue) throw failure
    write(Layout.ErrorNode, null, ErrorRow.pack(failure), ts)
  }
}
