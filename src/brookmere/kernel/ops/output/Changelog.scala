package brookmere.kernel.ops.output

import brookmere.kernel.core._
import brookmere.kernel.expr.Writer
import brookmere.kernel.ops.tables.HasSnapshot
import brookmere.kernel.state.Clock

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Writes the changes of a store to its changelog. They have no headers; a change without value is a deletion.
 *
 * `since` is the time when the changelog was created. A task with older rows writes all of them first. `isNew`: there
 * may be such tasks, and they do not wait for a record.
 */
final class Changelog(id: Int, name: String, keyWriter: Writer, valueWriter: Writer, val of: HasSnapshot, since: Long,
    isNew: Boolean)
    extends Processor(id, name) {
  @transient private var written: Clock = _
  override def open(): Unit = { keyWriter.open(); valueWriter.open() }
  override def attach(task: Task): Unit = {
    super.attach(task)
    written = task.clock(Clock.ofNode(of.name) + ":changelog")
  }
  override def needsTicks: Boolean = isNew
  override protected def failureKind: String = RecordFailed.Production

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    keyWriter.write(key)
    if (value != null) valueWriter.write(value)
    task.writeBare(id, keyWriter, if (value == null) null else valueWriter, ts)
  }

  override def earlier(): Iterator[Unit] =
    if (written.time == since) Iterator.empty
    else {
      val now = written
      var n = 0L
      of.snapshot { (key, value, ts) => task.ahead(n); n += 1; receive(key, value, null, ts) } ++
        Iterator.single(()).map(_ => now.time = since)
    }
}
