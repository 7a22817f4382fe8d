package brookmere.kernel.rows

import java.io.ByteArrayOutputStream

import brookmere.kernel.expr.RowType

import org.apache.spark.sql.catalyst.expressions.{SpecializedGetters, UnsafeRow}
import org.apache.spark.sql.types._

/**
 * Bytes of a key that sort as Kafka Streams sorts serialised keys: text by its UTF-8 bytes, numbers as big-endian
 * bytes, so negative ones come last. A struct sorts field by field.
 */
final class KeyOrder(t: RowType) extends Serializable {
  def bytes(key: UnsafeRow): Array[Byte] =
    if (!t.isStruct) {
      t.dataType match {
        case _: StringType => if (key.isNullAt(0)) Array.emptyByteArray else key.getUTF8String(0).getBytes
        case BinaryType => if (key.isNullAt(0)) Array.emptyByteArray else key.getBinary(0)
        case other => all(key, 0, other)
      }
    } else all(new KeyOrder.One(key), 0, t.dataType)

  private def all(row: SpecializedGetters, i: Int, t: DataType): Array[Byte] = {
    val out = new ByteArrayOutputStream(32)
    write(row, i, t, out)
    out.toByteArray
  }

  private def write(row: SpecializedGetters, i: Int, t: DataType, out: ByteArrayOutputStream): Unit =
    if (!row.isNullAt(i)) t match {
      case _: StringType => out.writeBytes(row.getUTF8String(i).getBytes)
      case BinaryType => out.writeBytes(row.getBinary(i))
      case BooleanType => out.write(if (row.getBoolean(i)) 1 else 0)
      case ByteType => out.write(row.getByte(i))
      case ShortType => number(row.getShort(i), 2, out)
      case IntegerType | DateType => number(row.getInt(i), 4, out)
      case LongType | TimestampType | TimestampNTZType => number(row.getLong(i), 8, out)
      case FloatType => number(java.lang.Float.floatToIntBits(row.getFloat(i)), 4, out)
      case DoubleType => number(java.lang.Double.doubleToLongBits(row.getDouble(i)), 8, out)
      case d: DecimalType =>
        out.writeBytes(row.getDecimal(i, d.precision, d.scale).toJavaBigDecimal.unscaledValue.toByteArray)
      case s: StructType =>
        val inner = row.getStruct(i, s.length)
        s.fields.indices.foreach(f => write(inner, f, s(f).dataType, out))
      case ArrayType(e, _) =>
        val a = row.getArray(i)
        (0 until a.numElements()).foreach(n => write(a, n, e, out))
      case other => out.writeBytes(String.valueOf(row.get(i, other)).getBytes(java.nio.charset.StandardCharsets.UTF_8))
    }

  private def number(v: Long, size: Int, out: ByteArrayOutputStream): Unit = {
    var shift = (size - 1) * 8
    while (shift >= 0) { out.write((v >>> shift).toInt & 0xff); shift -= 8 }
  }
}

object KeyOrder {
  /** A row with the key as its only field. */
  private final class One(key: UnsafeRow) extends org.apache.spark.sql.catalyst.expressions.BaseGenericInternalRow {
    override def numFields: Int = 1
    override protected def genericGet(i: Int): Any = key
    override def isNullAt(i: Int): Boolean = key == null
    override def setNullAt(i: Int): Unit = throw new UnsupportedOperationException
    override def update(i: Int, v: Any): Unit = throw new UnsupportedOperationException
  }
}
