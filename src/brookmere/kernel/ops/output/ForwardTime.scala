package brookmere.kernel.ops.output

import java.util.{HashMap => JMap}

import brookmere.kernel.core._
import brookmere.kernel.rows.{Layout, Rows}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Sends the time of a source to a later stage when it has advanced in the batch. The key is the sub-topology. */
final class ForwardTime(id: Int, name: String, stage: Int, subtopology: Int) extends Processor(id, name) {
  @transient private var about: UnsafeRow = _
  /** The time that was sent for each task in this batch. */
  @transient private var sent: JMap[Integer, Array[Long]] = _
  @transient private var mine: Array[Long] = _
  override def open(): Unit = {
    sent = new JMap[Integer, Array[Long]]()
    about = Rows.of(new Array[Byte](16), 1)
    about.setLong(0, subtopology)
  }

  override def attach(task: Task): Unit = {
    super.attach(task)
    mine = sent.computeIfAbsent(task.number, _ => Array(Long.MinValue))
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = if (ts > mine(0)) {
    mine(0) = ts
    val headers = task.keepHeaders()
    task.noHeaders()
    task.send(task.number, Layout.timeNode(stage), about, null, ts)
    task.headers(headers)
  }

  override def endBatch(): Unit = mine(0) = Long.MinValue
}
