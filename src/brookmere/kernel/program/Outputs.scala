package brookmere.kernel.program

import java.io.{ByteArrayOutputStream, DataOutputStream}

import brookmere.kernel.core.ErrorRow
import brookmere.kernel.rows._

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Writes what leaves the last stage into one array that Python reads at once: per row node, task,
 * place, time, topic (computed ones only), key, value, headers. Numbers are big endian.
 */
final class Outputs(routed: Set[Int]) {
  private val bytes = new ByteArrayOutputStream(1 << 12)
  private val out = new DataOutputStream(bytes)
  private val pair = new UnsafeRow(2)
  private val packed = new UnsafeRow(1)
  private val error = new UnsafeRow(ErrorRow.schema.length)

  def add(row: UnsafeRow, task: Int): Unit = {
    val node = row.getInt(Layout.Node)
    out.writeInt(node)
    out.writeInt(task)
    out.writeLong(row.getLong(Layout.Clock))
    out.writeInt(row.getInt(Layout.Source))
    out.writeLong(row.getLong(Layout.Seq))
    out.writeLong(row.getLong(Layout.Step))
    out.writeLong(row.getLong(Layout.Ts))
    if (node == Layout.ErrorNode) addError(Rows.slice(row, Layout.Value, error))
    else {
      val route = if (routed(node)) Rows.slice(row, Layout.Value, pair) else null
      text(if (route == null) null else route.getUTF8String(0).toString)
      field(if (row.isNullAt(Layout.Key)) null else row.getBinary(Layout.Key))
      if (route != null) field(if (route.isNullAt(1)) null else route.getBinary(1))
      else field(if (row.isNullAt(Layout.Value)) null else row.getBinary(Layout.Value))
      headers(row)
    }
  }

  private def addError(e: UnsafeRow): Unit = {
    Seq(0, 1, 3, 6, 7, 8).foreach(i => text(e.getUTF8String(i).toString))
    out.writeInt(e.getInt(4))
    out.writeLong(e.getLong(5))
    field(if (e.isNullAt(9)) null else e.getBinary(9))
    field(if (e.isNullAt(10)) null else e.getBinary(10))
  }

  private def headers(row: UnsafeRow): Unit = {
    val h = Rows.slice(row, Layout.Headers, packed)
    if (h == null) out.writeInt(0)
    else {
      val list = h.getArray(0)
      out.writeInt(list.numElements())
      var i = 0
      while (i < list.numElements()) {
        val one = list.getStruct(i, 2)
        text(if (one.isNullAt(0)) null else one.getUTF8String(0).toString)
        field(if (one.isNullAt(1)) null else one.getBinary(1))
        i += 1
      }
    }
  }

  private def text(s: String): Unit =
    field(if (s == null) null else s.getBytes(java.nio.charset.StandardCharsets.UTF_8))
  private def field(b: Array[Byte]): Unit =
    if (b == null) out.writeInt(-1) else { out.writeInt(b.length); out.write(b) }

  def result(): Array[Byte] = { out.flush(); bytes.toByteArray }
}

/** Reads records that Python wrote into one array: the raw rows of stage 0. */
object Inputs {
  import java.io.{ByteArrayInputStream, DataInputStream}
  import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeProjection}
  import org.apache.spark.sql.catalyst.util.GenericArrayData
  import org.apache.spark.unsafe.types.UTF8String

  def read(data: Array[Byte]): Iterator[UnsafeRow] = {
    val in = new DataInputStream(new ByteArrayInputStream(data))
    val project = UnsafeProjection.create(RawLayout.schema)
    def field(): Array[Byte] = { val n = in.readInt(); if (n < 0) null else in.readNBytes(n) }
    Iterator.fill(in.readInt()) {
      val row = new GenericInternalRow(RawLayout.schema.length)
      row.update(RawLayout.Topic, in.readInt())
      row.update(RawLayout.Partition, in.readInt())
      row.update(RawLayout.Offset, in.readLong())
      row.update(RawLayout.Ts, in.readLong())
      row.update(RawLayout.Clock, in.readLong())
      row.update(RawLayout.Key, field())
      row.update(RawLayout.Value, field())
      val headers = in.readInt()
      if (headers > 0) {
        row.update(RawLayout.Headers, new GenericArrayData(Array.fill[Any](headers) {
          val name = field()
          new GenericInternalRow(Array[Any](if (name == null) null else UTF8String.fromBytes(name), field()))
        }))
      }
      project(row)
    }
  }
}
