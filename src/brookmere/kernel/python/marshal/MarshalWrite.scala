package brookmere.kernel.python.marshal

import brookmere.kernel.expr.RowType

import org.apache.spark.sql.brookmere.Refused
import org.apache.spark.sql.catalyst.expressions.{SpecializedGetters, UnsafeRow}
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types._

/** Writes a field of a row that is not null as a Python value. */
abstract class MarshalWrite {
  def write(row: SpecializedGetters, i: Int, out: MarshalOut): Unit
}

/** Writes keys or values of a type; no row is None. */
final class MarshalRow(t: RowType) {
  private val fields = MarshalWrite.fields(t.schema)
  private val single = if (t.isStruct) null else fields.writes(0)

  def write(row: UnsafeRow, out: MarshalOut): Unit =
    if (row == null) out.none()
    else if (single == null) fields.write(row, out)
    else if (row.isNullAt(0)) out.none()
    else single.write(row, 0, out)
}

object MarshalWrite {
  /** Writes the fields of a struct as a dict. */
  private[python] final class Fields(names: Array[FieldName], val writes: Array[MarshalWrite]) {
    def write(row: SpecializedGetters, out: MarshalOut): Unit = {
      out.dict()
      var i = 0
      while (i < names.length) {
        out.name(names(i))
        if (row.isNullAt(i)) out.none() else writes(i).write(row, i, out)
        i += 1
      }
      out.endDict()
    }
  }

  private[python] def fields(s: StructType): Fields =
    new Fields(s.fields.map(f => new FieldName(f.name)), s.fields.map(f => of(f.dataType)))

  /** True if Python can have values of the type as keys of a dict. */
  def isScalar(t: DataType): Boolean = t match {
    case _: StructType | _: ArrayType | _: MapType => false
    case _ => true
  }

  /** Fails for a type whose values cannot be passed to Python. */
  def check(t: DataType): Unit = t match {
    case StructType(fields) => fields.foreach(f => check(f.dataType))
    case ArrayType(e, _) => check(e)
    case MapType(k, v, _) => check(k); check(v)
    case other => of(other)
  }

  private[python] def of(t: DataType): MarshalWrite = t match {
    case NullType => (_, _, out) => out.none()
    case BooleanType => (row, i, out) => out.bool(row.getBoolean(i))
    case ByteType => (row, i, out) => out.int(row.getByte(i))
    case ShortType => (row, i, out) => out.int(row.getShort(i))
    case IntegerType | DateType => (row, i, out) => out.int(row.getInt(i))
    case LongType | TimestampType | TimestampNTZType => (row, i, out) => out.int(row.getLong(i))
    case FloatType => (row, i, out) => out.double(row.getFloat(i))
    case DoubleType => (row, i, out) => out.double(row.getDouble(i))
    case d: DecimalType => (row, i, out) =>
      out.text(row.getDecimal(i, d.precision, d.scale).toJavaBigDecimal.toPlainString)
    case _: StringType => (row, i, out) => row match {
      case r: UnsafeRow =>
        val at = r.getLong(i)
        out.text(r.getBaseObject, r.getBaseOffset + (at >>> 32).toInt, at.toInt)
      case other =>
        val s = other.getUTF8String(i)
        out.text(s.getBaseObject, s.getBaseOffset, s.numBytes)
    }
    case BinaryType => (row, i, out) => row match {
      case r: UnsafeRow =>
        val at = r.getLong(i)
        out.binary(r.getBaseObject, r.getBaseOffset + (at >>> 32).toInt, at.toInt)
      case other => out.binary(other.getBinary(i))
    }
    case s: StructType =>
      val inner = fields(s)
      (row, i, out) => inner.write(row.getStruct(i, s.length), out)
    case ArrayType(e, _) =>
      val element = of(e)
      (row, i, out) => {
        val a = row.getArray(i)
        val n = a.numElements()
        out.list(n)
        each(a, n, element, out)
      }
    case MapType(k, v, _) => map(of(k), of(v), isScalar(k))
    case other => throw new Refused("python-type", other.sql)
  }

  private def each(a: ArrayData, n: Int, element: MarshalWrite, out: MarshalOut): Unit = {
    var j = 0
    while (j < n) { one(a, j, element, out); j += 1 }
  }

  private def one(a: ArrayData, j: Int, element: MarshalWrite, out: MarshalOut): Unit =
    if (a.isNullAt(j)) out.none() else element.write(a, j, out)

  private def map(key: MarshalWrite, value: MarshalWrite, asDict: Boolean): MarshalWrite = (row, i, out) => {
    val m = row.getMap(i)
    val n = m.numElements()
    val keys = m.keyArray()
    val values = m.valueArray()
    if (asDict) out.dict() else out.list(n)
    var j = 0
    while (j < n) {
      if (!asDict) out.tuple(2)
      one(keys, j, key, out)
      one(values, j, value, out)
      j += 1
    }
    if (asDict) out.endDict()
  }
}
