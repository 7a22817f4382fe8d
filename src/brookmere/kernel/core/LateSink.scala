package brookmere.kernel.core

import brookmere.kernel.expr.Writer
import brookmere.kernel.rows.{Layout, Rows}

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.catalyst.util.GenericArrayData
import org.apache.spark.unsafe.types.UTF8String

/** Why a record is dropped. */
object Dropped {
  val Late = "late"
  val NullKey = "null-key"
  val NullValue = "null-value"
  val Expired = "expired"
}

/** Writes the records that another processor drops, with the reason in their headers. */
final class LateSink(id: Int, name: String, keyWriter: Writer, valueWriter: Writer) extends Processor(id, name) {
  @transient private var pack: UnsafeProjection = _
  @transient private var packed: UnsafeRow = _
  override def open(): Unit = {
    keyWriter.open()
    valueWriter.open()
    pack = UnsafeProjection.create(Layout.headersSchema)
    packed = new UnsafeRow(1)
  }
  override protected def failureKind: String = RecordFailed.Production

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    task.write(id, keyWriter.bytes(key), valueWriter.bytes(value), ts)

  def take(
      node: String, reason: String, key: UnsafeRow, value: UnsafeRow, ts: Long, streamTime: Long, start: Long,
      end: Long): Unit = {
    val before = task.keepHeaders()
    val details = Seq("reason" -> reason, "node" -> node) ++
      (if (streamTime < 0) Nil else Seq("stream_time" -> streamTime.toString)) ++
      (if (start < 0) Nil else Seq("window" -> s"$start/$end"))
    task.headers(withMore(before, details))
    try receive(key, value, null, ts)
    finally task.headers(before)
  }

  private def withMore(before: Array[Byte], details: Seq[(String, String)]): Array[Byte] = {
    val kept =
      if (before == null) Array.empty[Any]
      else {
        packed.pointTo(before, before.length)
        packed.getArray(0).toObjectArray(Layout.headerType.elementType).asInstanceOf[Array[Any]]
      }
    val more = details.map { case (name, text) =>
      new GenericInternalRow(Array[Any](UTF8String.fromString(LateSink.Prefix + name), text.getBytes("UTF-8"))): Any
    }
    Rows.bytes(pack(new GenericInternalRow(Array[Any](new GenericArrayData(kept ++ more)))))
  }
}

object LateSink {
  private val Prefix = "brookmere.dropped."
}
