package brookmere.kernel.python.stage

import brookmere.kernel.core._
import brookmere.kernel.expr.RowType

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * A node that Python processes: here it has the types of its input and output, and the edges that leave its stage. The
 * worker follows the edges to nodes of the same stage.
 */
final class PythonNode(
    id: Int, name: String, val inKey: RowType, val inValue: RowType, val key: RowType, val value: RowType,
    val getsTable: Boolean, val sendsTable: Boolean, ticks: Boolean)
    extends Processor(id, name) with View {
  private var targets: Map[Int, Processor] = Map.empty
  private var store: String = null

  /** Sets the processor that leads to a child in another stage. */
  private[kernel] def leadsTo(child: Int, by: Processor): Unit = targets += child -> by

  /** Sets the store that keeps the table that the node sends. */
  private[kernel] def keepIn(store: String): Unit = this.store = store

  override def needsTicks: Boolean = ticks

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    throw new UnsupportedOperationException("Python processes the record")

  /** Sends what Python has forwarded to one child, or to all of them. */
  private[python] def send(to: Int, key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (to != PythonNode.All) targets(to).receive(key, value, old, ts)
    else {
      val c = children
      var i = 0
      while (i < c.length) { c(i).receive(key, value, old, ts); i += 1 }
    }

  private[python] def count(received: Long, forwarded: Long, dropped: Long, failed: Long): Unit = {
    this.received += received
    this.forwarded += forwarded
    this.dropped += dropped
    failures += failed
  }

  override def keptIn: String = store
  override def look(): Lookup = throw new IllegalStateException(s"$name was looked up in a stage without its rows")
}

object PythonNode {
  val All: Int = -1
}
