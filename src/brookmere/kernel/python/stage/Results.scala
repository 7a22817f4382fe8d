package brookmere.kernel.python.stage

import brookmere.kernel.core._
import brookmere.kernel.rows.{Change, Layout, Rows}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Sends the results of a row: its outputs, then its failures. */
private[python] final class Results(nodes: Array[PythonNode], answer: Answer, entries: Entries) {
  private val change = new UnsafeRow(2)
  private var task: Task = _
  private var output = 0
  private var error = 0

  /** Goes to the first result of an answer. */
  def begin(task: Task): Unit = {
    this.task = task
    output = 0
    error = 0
  }

  /** Sends the results of a row, by its number in the worker; the row is null at the end of a batch. */
  def of(number: Int, row: UnsafeRow): Unit = {
    val isChange = row != null && entries.isTable(row)
    if (isChange) task.isLatest = Change.isLatest(Rows.slice(row, Layout.Value, change))
    while (output < answer.count && answer.input(output) == number) { send(output, row); output += 1 }
    task.isLatest = true
    while (error < answer.errors.size && answer.errors.get(error).row == number) {
      fail(answer.errors.get(error))
      error += 1
    }
  }

  private def send(i: Int, row: UnsafeRow): Unit = {
    val node = answer.node(i)
    val misfit = answer.misfit(i)
    if (misfit != null) {
      node.failures += 1
      task.failed(RecordFailed.Processing, node.name, misfit, answer.time(i))
    } else {
      val key = if (answer.hasOwnKey(i)) Rows.slice(row, Layout.Key, answer.keyView(i)) else answer.key(i)
      val ownHeaders = answer.hasOwnHeaders(i)
      if (!ownHeaders) answer.headersOf(i, task)
      if (!answer.hasOwnValue(i)) node.send(answer.target(i), key, answer.value(i), answer.old(i), answer.time(i))
      else if (!node.sendsTable) {
        val value = Rows.slice(row, Layout.Value, answer.valueView(i))
        node.send(answer.target(i), key, value, null, answer.time(i))
      } else {
        val pair = Rows.slice(row, Layout.Value, change)
        val value = Rows.slice(pair, 0, answer.valueView(i))
        node.send(answer.target(i), key, value, Rows.slice(pair, 1, answer.oldView(i)), answer.time(i))
      }
      if (!ownHeaders) restoreHeaders(row)
    }
  }

  private def restoreHeaders(row: UnsafeRow): Unit =
    if (row == null) task.noHeaders() else task.headers(row, Layout.Headers)

  private def fail(e: ReportedError): Unit =
    task.failed(RecordFailed.Processing, nodes(e.node).name, new PythonError(e.kind, e.message, e.trace),
      if (e.ts == Answer.RowTime) task.timestamp else e.ts)
}
