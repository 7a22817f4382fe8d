package brookmere.kernel.python.stage

import java.util.{ArrayList, HashMap => JMap}

import brookmere.kernel.core.{PythonError, Task}
import brookmere.kernel.expr.RowType
import brookmere.kernel.python.marshal.{IntColumn, LongColumn, MarshalIn, Misfit, PackedRows, RowColumn, UnmarshalRow}
import brookmere.kernel.python.stores.StorePort
import brookmere.kernel.rows.Layout

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** An exception of user code: its row, its node, and what Python reports. */
private[python] final class ReportedError(val row: Int, val node: Int, val kind: String, val message: String,
    val trace: String, val ts: Long)

/**
 * The worker's response to a chunk: outputs as columns, in the order of the rows that caused them, and all the rest.
 */
private[python] final class Answer(nodes: Array[PythonNode], stores: StorePort) {
  import Answer._
  private val keyReads = nodes.map(n => if (n == null) null else new UnmarshalRow(n.key))
  private val valueReads = nodes.map(n => if (n == null) null else new UnmarshalRow(n.value))
  private val keyRows = nodes.map(n => if (n == null) null else new UnsafeRow(n.key.fields))
  private val valueRows = nodes.map(n => if (n == null) null else new UnsafeRow(n.value.fields))
  private val oldRows = nodes.map(n => if (n == null) null else new UnsafeRow(n.value.fields))
  private val headerRead = new UnmarshalRow(RowType(Layout.headerType))
  private val in = new MarshalIn
  private val rows = new PackedRows
  private val keys = new RowColumn(rows)
  private val values = new RowColumn(rows)
  private val olds = new RowColumn(rows)
  private val headers = new RowColumn(rows)
  private var headerKinds = new Array[Byte](0)
  private val inputs = new IntColumn
  private val from = new IntColumn
  private val to = new IntColumn
  private val times = new LongColumn
  private var flags: Array[Byte] = null
  private var size = 0
  private val misfits = new JMap[Integer, PythonError]()

  val errors = new ArrayList[ReportedError]()
  val clocks = new ArrayList[(String, Long)]()

  def count: Int = size
  /** The number, among the rows that the worker received, of the row that caused an output. */
  def input(i: Int): Int = inputs(i)
  def node(i: Int): PythonNode = nodes(from(i))
  def target(i: Int): Int = to(i)
  def time(i: Int): Long = times(i)
  def hasOwnKey(i: Int): Boolean = (flags(i) & OwnKey) != 0
  def hasOwnValue(i: Int): Boolean = (flags(i) & OwnValue) != 0
  /** Why an output cannot be sent; null if it can. */
  def misfit(i: Int): PythonError = if (misfits.isEmpty) null else misfits.get(i)
  def key(i: Int): UnsafeRow = keys.row(i, keyRows(from(i)))
  def value(i: Int): UnsafeRow = values.row(i, valueRows(from(i)))
  def old(i: Int): UnsafeRow = if (nodes(from(i)).sendsTable) olds.row(i, oldRows(from(i))) else null

  /** Views on parts of an input row that an output keeps. */
  def keyView(i: Int): UnsafeRow = keyRows(from(i))
  def valueView(i: Int): UnsafeRow = valueRows(from(i))
  def oldView(i: Int): UnsafeRow = oldRows(from(i))

  /** True if an output has the headers of the row that caused it. */
  def hasOwnHeaders(i: Int): Boolean = headerKinds.length == 0 || headerKinds(i) == Own
  def headersOf(i: Int, task: Task): Unit = {
    val h = headers.row(i, packed)
    if (h == null) task.noHeaders()
    else {
      task.headersBase = h.getBaseObject
      task.headersOffset = h.getBaseOffset
      task.headersSize = h.getSizeInBytes
    }
  }
  private val packed = new UnsafeRow(1)

  /** Reads a response: applies changes of stores and adds the counts of nodes. */
  def read(payload: Array[Byte]): Unit = {
    in.set(payload)
    rows.clear()
    misfits.clear()
    errors.clear()
    clocks.clear()
    in.sequence()
    inputs.read(in)
    size = inputs.count
    from.read(in, size)
    to.read(in, size)
    flags = if (in.isInt) Array.fill(size)(in.long().toByte) else in.binary()
    readKeys()
    readValues()
    times.read(in, size)
    readHeaders()
    readErrors()
    stores.change(in)
    readCounts()
    readClocks()
  }

  private def readKeys(): Unit = {
    keys.clear()
    val none = in.takeNone()
    if (!none) in.sequence()
    var i = 0
    while (i < size) {
      if (none) keys.add(UnmarshalRow.NoRow) else guarded(i, "key", keys, keyReads(from(i)))
      i += 1
    }
  }

  private def readValues(): Unit = {
    values.clear()
    olds.clear()
    val none = in.takeNone()
    if (!none) in.sequence()
    var i = 0
    while (i < size) {
      val read = valueReads(from(i))
      if (none || !nodes(from(i)).sendsTable || in.isNone) {
        if (none) values.add(UnmarshalRow.NoRow) else guarded(i, "value", values, read)
        olds.add(UnmarshalRow.NoRow)
      } else {
        in.sequence()
        guarded(i, "value", values, read)
        guarded(i, "old value", olds, read)
      }
      i += 1
    }
  }

  /** Reads a row; a row that does not fit makes its output a failure. */
  private def guarded(i: Int, what: String, into: RowColumn, read: UnmarshalRow): Unit = {
    val at = in.at
    val end = rows.end
    try into.read(in, read)
    catch {
      case m: Misfit =>
        in.at = at
        in.skip()
        rows.end = end
        into.add(UnmarshalRow.NoRow)
        misfits.put(i, Answer.misfit(nodes(from(i)).name, what, m))
    }
  }

  private def readHeaders(): Unit = {
    headers.clear()
    if (in.takeNone()) headerKinds = NoKinds
    else {
      val n = in.sequence()
      headerKinds = new Array[Byte](n)
      var i = 0
      while (i < n) {
        if (in.isInt) { in.skip(); headerKinds(i) = Own; headers.add(UnmarshalRow.NoRow) }
        else { headerKinds(i) = Other; headers.read(in, headerRead) }
        i += 1
      }
    }
  }

  private def readErrors(): Unit = if (!in.takeNone()) {
    var n = in.sequence()
    while (n > 0) {
      in.sequence()
      errors.add(new ReportedError(in.long().toInt, in.long().toInt, in.text(), in.text(), in.text(),
        if (in.takeNone()) RowTime else in.long()))
      n -= 1
    }
  }

  private def readCounts(): Unit = if (!in.takeNone()) {
    var n = in.sequence()
    while (n > 0) {
      nodes(in.long().toInt).count(in.long(), in.long(), in.long(), in.long())
      n -= CountFields
    }
  }

  private def readClocks(): Unit = if (!in.takeNone()) {
    in.at += 1
    while (in.code != '0') clocks.add((in.text(), in.long()))
    in.at += 1
  }
}

private[python] object Answer {
  /** The time of a failure at the time of its row. */
  val RowTime: Long = Long.MinValue
  private val CountFields = 5
  private val OwnKey = 1
  private val OwnValue = 2
  private val Own: Byte = 0
  private val Other: Byte = 1
  private val NoKinds = new Array[Byte](0)

  def misfit(node: String, what: String, m: Misfit): PythonError = {
    val message = s"$node returned a $what that does not fit: ${m.getMessage}. " +
      "Change what the function returns, or its declared type."
    new PythonError("TypeError", message, s"TypeError: $message\n")
  }
}
