package brookmere.kernel.python.marshal

import brookmere.kernel.core.PythonError
import brookmere.kernel.expr.RowType
import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.{UnsafeProjection, UnsafeRow}
import org.apache.spark.sql.types.DataType

/** Converts single values of one type to Python and back. For tests and for tools that inspect rows. */
final class Codec(typeJson: String) {
  private val t = RowType(DataType.fromJson(typeJson))
  private val reads = new UnmarshalRow(t)
  private val writes = new MarshalRow(t)
  private val out = new MarshalOut
  private val again = UnsafeProjection.create(t.schema)

  /** The packed row of a value that Python's marshal has written; null for None. */
  def pack(marshalled: Array[Byte]): Array[Byte] = {
    val in = new MarshalIn
    in.set(marshalled)
    val rows = new PackedRows
    val at =
      try reads.read(in, rows)
      catch { case m: Misfit => throw new PythonError("TypeError", m.getMessage, "") }
    if (in.at != marshalled.length) throw new IllegalStateException(s"${marshalled.length - in.at} bytes were not read")
    if (at < 0) null else java.util.Arrays.copyOfRange(rows.bytes, at, rows.end)
  }

  /** The value of a packed row, as Python's marshal reads it. */
  def unpack(packed: Array[Byte]): Array[Byte] = {
    out.begin()
    writes.write(row(packed), out)
    java.util.Arrays.copyOf(out.bytes, out.size)
  }

  /** True if Spark would pack the row into the same bytes. */
  def isAsSparkPacks(packed: Array[Byte]): Boolean = java.util.Arrays.equals(Rows.bytes(again(row(packed))), packed)

  private def row(packed: Array[Byte]): UnsafeRow = if (packed == null) null else Rows.of(packed, t.fields)
}
