package brookmere.kernel.ops.output

import java.util.{HashMap => JMap}

import brookmere.kernel.core._
import brookmere.kernel.rows.{Layout, Rows}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Sends the time of a source's records to a later stage, when it has advanced within the batch. The key is the
 * sub-topology. With `isDue` the record has been processed, and punctuations are called.
 */
final class ForwardTime(id: Int, name: String, stage: Int, subtopology: Int, isDue: Boolean)
    extends Processor(id, name) {
  private val node = if (isDue) Layout.dueNode(stage) else Layout.timeNode(stage)
  @transient private var about: UnsafeRow = _
  /**
   * The latest time sent in this batch, by task; in stage 0, which takes partitions one after the other, by partition.
   */
  @transient private var sent: JMap[Integer, Array[Long]] = _
  @transient private var mine: Array[Long] = _
  @transient private var of = -1
  override def open(): Unit = {
    sent = new JMap[Integer, Array[Long]]()
    about = Rows.of(new Array[Byte](16), 1)
    about.setLong(0, subtopology)
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val from = if (task.stage == 0) task.source else task.number
    if (mine == null || from != of) {
      mine = sent.computeIfAbsent(from, _ => Array(Long.MinValue))
      of = from
    }
    if (ts > mine(0)) {
      mine(0) = ts
      val headers = task.keepHeaders()
      task.noHeaders()
      task.send(task.number, node, about, null, ts)
      task.headers(headers)
    }
  }

  override def endBatch(): Unit = {
    sent.clear()
    mine = null
  }
}
