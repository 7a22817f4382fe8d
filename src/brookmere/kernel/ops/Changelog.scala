package brookmere.kernel.ops

import brookmere.kernel.core._
import brookmere.kernel.expr.Writer

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Writes the changes of a store to its changelog. They have no headers; one without value is a deletion. */
final class Changelog(id: Int, name: String, keyWriter: Writer, valueWriter: Writer) extends Processor(id, name) {
  override def open(): Unit = { keyWriter.open(); valueWriter.open() }
  override protected def failureKind: String = RecordFailed.Production

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    keyWriter.write(key)
    if (value != null) valueWriter.write(value)
    task.writeBare(id, keyWriter, if (value == null) null else valueWriter, ts)
  }
}
