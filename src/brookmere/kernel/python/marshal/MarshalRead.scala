package brookmere.kernel.python.marshal

import java.math.{BigDecimal => JBigDecimal}

import brookmere.kernel.expr.{RowType, Utf8}
import brookmere.kernel.rows.Rows

import org.apache.spark.sql.brookmere.Refused
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

/**
 * Reads a Python value that is not None into a slot of a row, an array or a struct. `width` is the size of a slot in an
 * array. Values of variable size go to the end of the rows; the slot holds their position, relative to `base`.
 */
abstract class MarshalRead(val width: Int) {
  def read(in: MarshalIn, out: PackedRows, slot: Int, base: Int): Unit
  /** What a struct does for None in addition to setting the null bit. */
  def none(out: PackedRows, slot: Int, base: Int): Unit = {}
}

/** Reads keys or values of a type as rows. */
final class UnmarshalRow(t: RowType) {
  private val fields = new StructRead(t.schema)
  private val single = if (t.isStruct) null else fields.reads(0)

  /** Appends a row to the rows and returns its start; -1 for None, without a row. */
  def read(in: MarshalIn, out: PackedRows): Int =
    if (in.takeNone()) UnmarshalRow.NoRow
    else if (single == null) fields.struct(in, out)
    else {
      val at = out.reserve(16)
      single.read(in, out, at + 8, at)
      at
    }
}

object UnmarshalRow {
  val NoRow: Int = -1
}

object MarshalRead {
  def of(t: DataType): MarshalRead = t match {
    case NullType => new MarshalRead(8) {
      override def read(in: MarshalIn, out: PackedRows, slot: Int, base: Int): Unit =
        throw new Misfit(in.describe(), "VOID")
    }
    case BooleanType => new MarshalRead(1) {
      override def read(in: MarshalIn, out: PackedRows, slot: Int, base: Int): Unit = {
        val c = in.bytes(in.at)
        if (c != 'T' && c != 'F') throw new Misfit(in.describe(), "BOOLEAN")
        in.at += 1
        out.bytes(slot) = if (c == 'T') 1 else 0
      }
    }
    case ByteType => new IntRead(1, Byte.MinValue, Byte.MaxValue, "TINYINT")
    case ShortType => new IntRead(2, Short.MinValue, Short.MaxValue, "SMALLINT")
    case IntegerType => new IntRead(4, Int.MinValue, Int.MaxValue, "INT")
    case DateType => new IntRead(4, Int.MinValue, Int.MaxValue, "DATE")
    case LongType | TimestampType | TimestampNTZType => new IntRead(8, Long.MinValue, Long.MaxValue, t.sql)
    case FloatType => new MarshalRead(4) {
      override def read(in: MarshalIn, out: PackedRows, slot: Int, base: Int): Unit =
        Platform.putFloat(out.bytes, Rows.Base + slot, number(in, "FLOAT").toFloat)
    }
    case DoubleType => new MarshalRead(8) {
      override def read(in: MarshalIn, out: PackedRows, slot: Int, base: Int): Unit =
        Platform.putDouble(out.bytes, Rows.Base + slot, number(in, "DOUBLE"))
    }
    case d: DecimalType => new DecimalRead(d)
    case _: StringType => new MarshalRead(8) {
      override def read(in: MarshalIn, out: PackedRows, slot: Int, base: Int): Unit = {
        if (in.bytes(in.at) != 'u') throw new Misfit(in.describe(), "STRING")
        val from = in.at
        val n = in.count()
        if (!Utf8.valid(in.bytes, Rows.Base + in.at, n)) {
          in.at = from
          throw new Misfit("a str with half of a surrogate pair, which is not a character", "STRING")
        }
        out.put(slot, out.append(in.bytes, in.at, n, base))
        in.at += n
      }
    }
    case BinaryType => new MarshalRead(8) {
      override def read(in: MarshalIn, out: PackedRows, slot: Int, base: Int): Unit = {
        if (in.bytes(in.at) != 's') throw new Misfit(in.describe(), "BINARY")
        val n = in.count()
        out.put(slot, out.append(in.bytes, in.at, n, base))
        in.at += n
      }
    }
    case s: StructType => new StructRead(s)
    case ArrayType(e, _) => new ArrayRead(of(e), t.sql)
    case MapType(k, v, _) => new MapRead(of(k), of(v), t.sql)
    case other => throw new Refused("python-type", other.sql)
  }

  /** A float, or an int converted to one. */
  private def number(in: MarshalIn, declared: String): Double =
    if (in.bytes(in.at) == 'g') in.double()
    else if (!in.isInt) throw new Misfit(in.describe(), declared)
    else {
      val from = in.at
      val v = in.big().doubleValue
      if (v.isInfinite) { in.at = from; throw new Misfit(in.describe(), declared) }
      v
    }
}

/** Integers: an int within the bounds of the type, not a bool or a float. */
private[python] final class IntRead(size: Int, min: Long, max: Long, declared: String) extends MarshalRead(size) {
  override def read(in: MarshalIn, out: PackedRows, slot: Int, base: Int): Unit = {
    if (!in.isInt) throw new Misfit(in.describe(), declared)
    val from = in.at
    val v = if (in.bytes(from) == 'i') in.long() else checked(in)
    if (v < min || v > max) { in.at = from; throw new Misfit(in.describe(), declared) }
    size match {
      case 8 => Platform.putLong(out.bytes, Rows.Base + slot, v)
      case 4 => Platform.putInt(out.bytes, Rows.Base + slot, v.toInt)
      case 2 => Platform.putShort(out.bytes, Rows.Base + slot, v.toShort)
      case _ => Platform.putByte(out.bytes, Rows.Base + slot, v.toByte)
    }
  }
  private def checked(in: MarshalIn): Long =
    try in.long() catch { case m: Misfit => throw new Misfit(m.found, declared) }
}

/** Decimals, as text; digits beyond the scale are rounded, as Spark does. */
private[python] final class DecimalRead(t: DecimalType) extends MarshalRead(8) {
  private val isLong = t.precision <= Decimal.MAX_LONG_DIGITS

  override def read(in: MarshalIn, out: PackedRows, slot: Int, base: Int): Unit = {
    val what = in.describe()
    val exact =
      if (in.isInt) new JBigDecimal(in.big())
      else if (in.code == 'u') {
        try new JBigDecimal(in.text()) catch { case _: NumberFormatException => throw new Misfit(what, t.sql) }
      }
      else throw new Misfit(what, t.sql)
    val v = exact.setScale(t.scale, java.math.RoundingMode.HALF_UP)
    if (v.precision > t.precision) throw new Misfit(what, t.sql)
    if (isLong) out.put(slot, v.unscaledValue.longValue)
    else {
      val b = v.unscaledValue.toByteArray
      val at = out.reserve(16)
      System.arraycopy(b, 0, out.bytes, at, b.length)
      out.put(slot, ((at - base).toLong << 32) | b.length)
    }
  }

  // A large decimal has its space even if it is null, so that it can be set later.
  override def none(out: PackedRows, slot: Int, base: Int): Unit =
    if (!isLong) out.put(slot, (out.reserve(16) - base).toLong << 32)
}

private[python] final class ArrayRead(element: MarshalRead, declared: String) extends MarshalRead(8) {
  override def read(in: MarshalIn, out: PackedRows, slot: Int, base: Int): Unit = {
    val at = out.end
    if (!in.isSequence) throw new Misfit(in.describe(), declared)
    val n = in.count()
    val head = 8 + ((n + 63) >> 6) * 8
    out.reserve(head + Rows.padded(n * element.width))
    out.put(at, n)
    var i = 0
    while (i < n) {
      if (in.takeNone()) out.setBit(at + 8, i)
      else {
        try element.read(in, out, at + head + i * element.width, at)
        catch { case m: Misfit => throw m.within(s"[$i]") }
      }
      i += 1
    }
    out.put(slot, ((at - base).toLong << 32) | (out.end - at))
  }
}

/** A dict, or a list of pairs, as the array of its keys and the array of its values. */
private[python] final class MapRead(key: MarshalRead, value: MarshalRead, declared: String) extends MarshalRead(8) {
  override def read(in: MarshalIn, out: PackedRows, slot: Int, base: Int): Unit = {
    val isDict = in.code == '{'
    if (!isDict && !in.isSequence) throw new Misfit(in.describe(), declared)
    val from = in.at
    val n = if (isDict) countPairs(in) else in.count()
    if (isDict) in.at = from + 1
    val first = in.at
    val at = out.reserve(8)
    side(in, out, n, isDict, key, isKey = true)
    out.put(at, out.end - at - 8)
    in.at = first
    side(in, out, n, isDict, value, isKey = false)
    if (isDict) in.at += 1
    out.put(slot, ((at - base).toLong << 32) | (out.end - at))
  }

  private def countPairs(in: MarshalIn): Int = {
    var n = 0
    in.at += 1
    while (in.bytes(in.at) != '0') { in.skip(); in.skip(); n += 1 }
    n
  }

  private def side(in: MarshalIn, out: PackedRows, n: Int, isDict: Boolean, element: MarshalRead,
      isKey: Boolean): Unit = {
    val at = out.end
    val head = 8 + ((n + 63) >> 6) * 8
    out.reserve(head + Rows.padded(n * element.width))
    out.put(at, n)
    var i = 0
    while (i < n) {
      if (!isDict && (!in.isSequence || in.count() != 2)) throw new Misfit("a list that is not one of pairs", declared)
      if (!isKey) in.skip()
      if (!in.isNone)
        try element.read(in, out, at + head + i * element.width, at)
        catch { case m: Misfit => throw m.within(if (isKey) "(key)" else "(value)") }
      else if (isKey) throw new Misfit("a key that is None", declared)
      else { in.takeNone(); out.setBit(at + 8, i) }
      if (isKey) in.skip()
      i += 1
    }
  }
}
