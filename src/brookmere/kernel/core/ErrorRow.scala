package brookmere.kernel.core

import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/**
 * A failure as a packed row: struct<stage, node, task, topic, partition, offset, reason, message, trace, key, value>.
 */
object ErrorRow {
  val schema: StructType = new StructType()
    .add("stage", StringType).add("node", StringType).add("task", IntegerType).add("topic", StringType)
    .add("partition", IntegerType).add("offset", LongType).add("reason", StringType).add("message", StringType)
    .add("trace", StringType).add("key", BinaryType).add("value", BinaryType)

  def pack(f: RecordFailed): Array[Byte] = {
    val w = new UnsafeRowWriter(schema.length)
    w.resetRowWriter()
    w.write(0, UTF8String.fromString(f.stage))
    w.write(1, UTF8String.fromString(f.node))
    w.write(2, f.task)
    w.write(3, UTF8String.fromString(f.topic))
    w.write(4, f.partition)
    w.write(5, f.offset)
    w.write(6, UTF8String.fromString(f.reason))
    w.write(7, UTF8String.fromString(f.detail))
    w.write(8, UTF8String.fromString(f.trace))
    if (f.key == null) w.setNullAt(9) else w.write(9, f.key)
    if (f.value == null) w.setNullAt(10) else w.write(10, f.value)
    Rows.bytes(w.getRow)
  }
}
