package brookmere.kernel.ops.output

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection, Writer}
import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter

/** Like Sink, with a topic that is computed for each record and comes before the value. */
final class RoutingSink(id: Int, name: String, keyWriter: Writer, valueWriter: Writer, topic: Bound)
    extends Evaluating(id, name) {
  @transient private var route: Projection = _
  @transient private var writer: UnsafeRowWriter = _
  override def open(): Unit = {
    super.open()
    keyWriter.open()
    valueWriter.open()
    route = topic.compile()
    writer = new UnsafeRowWriter(2)
  }
  override protected def failureKind: String = RecordFailed.Production

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val to = route(record.set(key, value, ts))
    if (to == null) throw new BadBytes("the function that names the topic returned null")
    val v = valueWriter.bytes(value)
    writer.reset()
    writer.zeroOutNullBytes()
    writer.write(0, to.getUTF8String(0))
    if (v == null) writer.setNullAt(1) else writer.write(1, v)
    task.write(id, keyWriter.bytes(key), Rows.bytes(writer.getRow), ts)
  }
}
