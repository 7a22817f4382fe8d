package brookmere.kernel.ops.output

import brookmere.kernel.core._
import brookmere.kernel.expr.Writer
import brookmere.kernel.ops.tables.HasSnapshot
import brookmere.kernel.state.Clock

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Writes the changes of a store to its changelog. They have no headers; one without value is a deletion.
 *
 * `since` stands for the time since when the changelog is there. A task whose rows are older begins with
 * all of them. `isNew`: there may be such tasks, and they need not wait for a record.
 */
final class Changelog(id: Int, name: String, keyWriter: Writer, valueWriter: Writer, val of: HasSnapshot, since: Long, isNew: Boolean)
    extends Processor(id, name) {
  @transient private var told: Clock = _
  override def open(): Unit = { keyWriter.open(); valueWriter.open() }
  override def attach(task: Task): Unit = { super.attach(task); told = task.clock(Clock.ofNode(of.name) + ":changelog") }
  override def needsTicks: Boolean = isNew
  override protected def failureKind: String = RecordFailed.Production

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    keyWriter.write(key)
    if (value != null) valueWriter.write(value)
    task.writeBare(id, keyWriter, if (value == null) null else valueWriter, ts)
  }

  override def earlier(): Iterator[Unit] =
    if (told.time == since) Iterator.empty
    else {
      val now = told
      var n = 0L
      of.snapshot { (key, value, ts) => task.ahead(n); n += 1; receive(key, value, null, ts) } ++ Iterator.single(()).map(_ => now.time = since)
    }
}
