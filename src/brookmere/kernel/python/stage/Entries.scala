package brookmere.kernel.python.stage

import brookmere.kernel.program.Stage
import brookmere.kernel.python.marshal.{MarshalOut, MarshalRow}
import brookmere.kernel.rows.{Change, Layout, Rows}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Where rows enter a Python stage: which rows it takes, and how their keys and values are written for the worker. */
private[python] final class Entries(stage: Stage) {
  private val timeNode = Layout.timeNode(stage.number)
  private val dueNode = Layout.dueNode(stage.number)
  private val width = if (stage.entries.isEmpty) 0 else stage.entries.map(_.node).max + 1
  private val ways = new Array[Way](width)
  private val change = new UnsafeRow(2)
  private val part = new UnsafeRow(1)
  stage.entries.foreach(e => ways(e.node) = new Way(e.target.asInstanceOf[PythonNode]))

  private final class Way(val node: PythonNode) {
    val key = new MarshalRow(node.inKey)
    val value = new MarshalRow(node.inValue)
    val keyRow = new UnsafeRow(node.inKey.fields)
    val valueRow = new UnsafeRow(node.inValue.fields)
  }

  /** True if the row goes to the worker; other rows pass through. */
  def takes(row: UnsafeRow): Boolean = {
    val node = row.getInt(Layout.Node)
    if (node >= 0) node < width && ways(node) != null
    else isTime(node) || isClock(row)
  }

  private def isTime(node: Int): Boolean = node == timeNode || node == dueNode

  def isClock(row: UnsafeRow): Boolean =
    row.getInt(Layout.Node) == Layout.TickNode && row.getLong(Layout.Seq) == stage.number

  def isTable(row: UnsafeRow): Boolean = { val node = row.getInt(Layout.Node); node >= 0 && ways(node).node.getsTable }

  /** The number by which the worker knows the meaning of a row. */
  def number(row: UnsafeRow): Int = {
    val node = row.getInt(Layout.Node)
    if (node >= 0) node
    else if (node == timeNode) Entries.Time
    else if (node == dueNode) Entries.Due
    else Entries.clockNumber(row)
  }

  def writeKey(row: UnsafeRow, out: MarshalOut): Unit = {
    val node = row.getInt(Layout.Node)
    if (isTime(node)) out.int(Rows.slice(row, Layout.Key, part).getLong(0))
    else if (node < 0) out.none()
    else { val w = ways(node); w.key.write(Rows.slice(row, Layout.Key, w.keyRow), out) }
  }

  def writeValue(row: UnsafeRow, out: MarshalOut): Unit = {
    val node = row.getInt(Layout.Node)
    if (node < 0) out.none()
    else {
      val w = ways(node)
      if (!w.node.getsTable) w.value.write(Rows.slice(row, Layout.Value, w.valueRow), out)
      else {
        val pair = Rows.slice(row, Layout.Value, change)
        out.tuple(3)
        w.value.write(Rows.slice(pair, 0, w.valueRow), out)
        w.value.write(Rows.slice(pair, 1, w.valueRow), out)
        out.bool(Change.isLatest(pair))
      }
    }
  }
}

private[python] object Entries {
  /** The stream time of the sub-topology in the row's key is at least the row's time. */
  val Time: Int = -4
  /** The same after a record of the task was processed: punctuations that are due are called. */
  val Due: Int = -8
  /** The row carries the wall clock. */
  val Clock: Int = -5
  /** The wall clock ticks; below, in a batch that leaves records waiting. */
  val Tick: Int = -6
  val TickBusy: Int = -7

  private def clockNumber(row: UnsafeRow): Int = {
    import brookmere.kernel.rows.Ticks
    if (!Ticks.isTick(row)) Clock else if (Ticks.isBusy(row)) TickBusy else Tick
  }
}
