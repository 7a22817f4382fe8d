package brookmere.kernel.ops.output

import brookmere.kernel.core._
import brookmere.kernel.expr.Writer

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Serialises key and value and sends them to the sink. */
final class Sink(id: Int, name: String, keyWriter: Writer, valueWriter: Writer) extends Processor(id, name) {
  override def open(): Unit = { keyWriter.open(); valueWriter.open() }
  override protected def failureKind: String = RecordFailed.Production

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    if (key != null) keyWriter.write(key)
    if (value != null) valueWriter.write(value)
    task.write(id, if (key == null) null else keyWriter, if (value == null) null else valueWriter, ts)
  }
}
