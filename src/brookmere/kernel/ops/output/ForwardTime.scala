package brookmere.kernel.ops.output

import java.util.{HashMap => JMap}

import brookmere.kernel.core._
import brookmere.kernel.rows.{Layout, Rows}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Tells a later stage how far the time of a source is, when it has moved on within the batch. The key is the sub-topology. */
final class ForwardTime(id: Int, name: String, stage: Int, subtopology: Int) extends Processor(id, name) {
  @transient private var about: UnsafeRow = _
  /** What each task was told in this batch. */
  @transient private var told: JMap[Integer, Array[Long]] = _
  @transient private var mine: Array[Long] = _
  override def open(): Unit = {
    told = new JMap[Integer, Array[Long]]()
    about = Rows.of(new Array[Byte](16), 1)
    about.setLong(0, subtopology)
  }

  override def attach(task: Task): Unit = {
    super.attach(task)
    mine = told.computeIfAbsent(task.number, _ => Array(Long.MinValue))
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
