package brookmere.kernel.formats

import brookmere.kernel.core.BadBytes

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Writes rows of a Spark type as messages, field by field in the order of their numbers. */
final class ProtobufWrite(root: ProtobufMessage, t: StructType) {
  import ProtobufSchema._

  private val writer = new Fields(root, t, "value")

  def write(row: InternalRow, out: Output): Unit = writer.write(row, out)

  /** The fields of a message that the value has. */
  private final class Fields(message: ProtobufMessage, t: StructType, path: String) {
    private val oneofs = new Array[String](message.oneofs)
    private val parts = message.byNumber.flatMap { f =>
      val i = t.fields.indexWhere(_.name == f.name)
      if (i < 0 && f.presence == "required")
        throw new IllegalArgumentException(s"$path.${f.name} is required, and absent")
      // A field that is always null is never written.
      if (i < 0 || (t.fields(i).dataType == NullType && f.presence != "required")) None
      else Some(new Part(f, i, t.fields(i).dataType, s"$path.${f.name}"))
    }

    def write(row: SpecializedGetters, out: Output): Unit = {
      java.util.Arrays.fill(oneofs.asInstanceOf[Array[AnyRef]], null)
      var k = 0
      while (k < parts.length) {
        val p = parts(k)
        if (!row.isNullAt(p.index)) {
          val o = p.field.oneof
          if (o >= 0) {
            if (oneofs(o) != null) throw new BadBytes(
              s"$path has values for ${oneofs(o)} and ${p.field.name}, of which only one may be set")
            oneofs(o) = p.field.name
          }
          p.write(row.get(p.index, p.dataType), out)
        } else if (p.field.presence == "required") throw new BadBytes(s"${p.path} is null, and required")
        k += 1
      }
    }
  }

  private final class Part(val field: ProtobufField, val index: Int, val dataType: DataType, val path: String) {
    private def tag(wire: Int): Long = (field.number.toLong << 3) | wire
    private val element = dataType match {
      case ArrayType(e, _) if field.repeated => e
      case other => other
    }
    private val inner = (field.kind, element) match {
      case ("message", s: StructType) => new Fields(field.message, s, path)
      case ("message", other) if other != NullType =>
        throw new IllegalArgumentException(s"$path of the type ${dataType.sql} is not a message")
      case _ => null
    }
    private val entry = (field.kind, dataType) match {
      case ("map", MapType(k, v, _)) =>
        (new Part(field.message.fields(0), 0, k, s"$path.key"), new Part(field.message.fields(1), 0, v, s"$path.value"))
      case ("map", other) if other != NullType =>
        throw new IllegalArgumentException(s"$path of the type ${dataType.sql} is not a map")
      case _ => null
    }
    private val put: (Any, Output) => Unit =
      if (inner != null || entry != null || element == NullType) null
      else ProtobufScalar(field, element, path)

    def write(value: Any, out: Output): Unit =
      if (field.kind == "map") map(value.asInstanceOf[MapData], out)
      else if (field.repeated) array(value.asInstanceOf[ArrayData], out)
      else if (field.presence != "implicit" || !ProtobufScalar.isDefault(field, value)) one(value, out)

    /** A value with its tag, even if it is the default. */
    def one(value: Any, out: Output): Unit = {
      out.varint(tag(field.wire))
      if (inner == null) put(value, out)
      else {
        val start = out.size
        inner.write(value.asInstanceOf[InternalRow], out)
        out.lengthBefore(start)
      }
    }

    private def array(a: ArrayData, out: Output): Unit = {
      val n = a.numElements
      if (n == 0) return
      if (field.packed) out.varint(tag(Bytes))
      val start = out.size
      var i = 0
      while (i < n) {
        if (a.isNullAt(i)) throw new BadBytes(s"$path has a null among its elements")
        val v = a.get(i, element)
        if (field.packed) put(v, out) else one(v, out)
        i += 1
      }
      if (field.packed) out.lengthBefore(start)
    }

    private def map(m: MapData, out: Output): Unit = {
      val keys = m.keyArray
      val values = m.valueArray
      var i = 0
      while (i < m.numElements) {
        if (values.isNullAt(i)) throw new BadBytes(s"$path has a null among its values")
        out.varint(tag(Bytes))
        val start = out.size
        entry._1.one(keys.get(i, entry._1.dataType), out)
        entry._2.one(values.get(i, entry._2.dataType), out)
        out.lengthBefore(start)
        i += 1
      }
    }
  }
}

/** Scalar values, after their tag. */
object ProtobufScalar {
  def apply(f: ProtobufField, t: DataType, path: String): (Any, Output) => Unit = (f.kind, t) match {
    case ("int32" | "int64", Whole()) => (v, out) => out.varint(v.asInstanceOf[Number].longValue)
    case ("uint32", Whole()) => (v, out) => out.varint(unsigned32(v, path))
    case ("uint64", _: DecimalType | Whole()) => (v, out) => out.varint(unsigned64(v, path))
    case ("sint32", Whole()) =>
      (v, out) => { val n = v.asInstanceOf[Number].intValue; out.varint(((n << 1) ^ (n >> 31)) & 0xffffffffL) }
    case ("sint64", Whole()) => (v, out) => out.zigzag(v.asInstanceOf[Number].longValue)
    case ("bool", BooleanType) => (v, out) => out.byte(if (v.asInstanceOf[Boolean]) 1 else 0)
    case ("enum", _: StringType) => (v, out) => out.varint(number(f.symbols, v.toString, path))
    case ("fixed64", _: DecimalType | Whole()) => (v, out) => out.fixed64(unsigned64(v, path))
    case ("sfixed64", Whole()) => (v, out) => out.fixed64(v.asInstanceOf[Number].longValue)
    case ("double", ByteType | ShortType | IntegerType | FloatType | DoubleType) =>
      (v, out) => out.fixed64(java.lang.Double.doubleToRawLongBits(v.asInstanceOf[Number].doubleValue))
    case ("fixed32", Whole()) => (v, out) => out.fixed32(unsigned32(v, path).toInt)
    case ("sfixed32", Whole()) => (v, out) => out.fixed32(v.asInstanceOf[Number].intValue)
    case ("float", FloatType) => (v, out) => out.fixed32(java.lang.Float.floatToRawIntBits(v.asInstanceOf[Float]))
    case ("string", _: StringType) =>
      (v, out) => { val s = v.asInstanceOf[UTF8String]; out.varint(s.numBytes); out.text(s) }
    case ("bytes", BinaryType) => (v, out) => { val b = v.asInstanceOf[Array[Byte]]; out.varint(b.length); out.all(b) }
    case ("timestamp", TimestampType) => (v, out) => nested(out) {
      val micros = v.asInstanceOf[Long]
      val seconds = Math.floorDiv(micros, 1000000L)
      val nanos = Math.floorMod(micros, 1000000L) * 1000
      if (seconds != 0) { out.byte(8); out.varint(seconds) }
      if (nanos != 0) { out.byte(16); out.varint(nanos) }
    }
    case ("wrapped", _) =>
      val held = f.message.fields(0)
      val put = apply(held, t, path)
      (v, out) => nested(out) {
        if (!isDefault(held, v)) { out.varint((held.number.toLong << 3) | held.wire); put(v, out) }
      }
    case _ => throw new IllegalArgumentException(s"$path of the type ${t.sql} cannot be written as ${f.kind}")
  }

  private def nested(out: Output)(body: => Unit): Unit = {
    val start = out.size
    body
    out.lengthBefore(start)
  }

  private object Whole {
    def unapply(t: DataType): Boolean = t == IntegerType || t == LongType || t == ShortType || t == ByteType
  }

  private def unsigned32(v: Any, path: String): Long = {
    val n = v.asInstanceOf[Number].longValue
    if (n < 0 || n > 0xffffffffL) throw new BadBytes(s"$path is $n, which is not an unsigned number of 4 bytes")
    n
  }

  private def unsigned64(v: Any, path: String): Long = {
    val n = v match {
      case d: Decimal =>
        try d.toJavaBigDecimal.toBigIntegerExact
        catch { case _: ArithmeticException => java.math.BigInteger.ONE.negate }
      case other => java.math.BigInteger.valueOf(other.asInstanceOf[Number].longValue)
    }
    if (n.signum < 0 || n.bitLength > 64)
      throw new BadBytes(s"$path is $v, which is not an unsigned number of 8 bytes")
    n.longValue
  }

  private def number(e: ProtobufEnum, name: String, path: String): Long = e.numbers.get(name) match {
    case Some(n) => n
    case None if !e.closed && name.matches("-?\\d{1,9}") => name.toInt
    case None => throw new BadBytes(s"$path is '$name', where the enum ${e.name} has ${e.numbers.keys.mkString(", ")}")
  }

  /** True if a field without presence is omitted. */
  def isDefault(f: ProtobufField, v: Any): Boolean = v match {
    case b: Boolean => !b
    // Not minus zero.
    case d: Double => java.lang.Double.doubleToRawLongBits(d) == 0
    case s: Float => java.lang.Float.floatToRawIntBits(s) == 0
    case n: Number => n.longValue == 0
    case d: Decimal => d.isZero
    case s: UTF8String if f.kind == "enum" =>
      f.symbols.numbers.get(s.toString).contains(f.symbols.first) && f.symbols.first == 0
    case s: UTF8String => s.numBytes == 0
    case b: Array[Byte] => b.isEmpty
    case _ => false
  }
}
