package brookmere.kernel.expr

import brookmere.kernel.core.BadBytes
import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.{GenericInternalRow, UnsafeRow}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/** Reads serialised bytes as a row; throws if they cannot be read. The row is reused. */
abstract class Reader(val result: RowType) extends Serializable {
  def open(): Unit = {}
  def read(base: AnyRef, offset: Long, size: Int): UnsafeRow
}

object Reader {
  /** The reader of a built-in wire format. */
  def of(kind: String): Reader = kind match {
    case "text" => new BytesReader(StringType)
    case "json-text" => new JsonTextReader
    case "bytes" => new BytesReader(BinaryType)
    case "int" => new FixedReader(IntegerType, 4, "an Int")
    case "long" => new FixedReader(LongType, 8, "a Long")
    case "double" => new FixedReader(DoubleType, 8, "a Double")
    case "bool" => new FixedReader(BooleanType, 1, "a Bool")
    case other => throw new IllegalArgumentException(s"unknown wire format '$other'")
  }
}

/** Text (checked UTF-8) and bytes: the field's content is the content of the record. */
final class BytesReader(t: DataType) extends Reader(RowType(t)) {
  @transient private var buffer: Array[Byte] = _
  @transient private var row: UnsafeRow = _
  private val isText = t == StringType
  override def open(): Unit = { buffer = new Array[Byte](256); row = new UnsafeRow(1) }

  override def read(base: AnyRef, offset: Long, size: Int): UnsafeRow = {
    if (isText && !Utf8.valid(base, offset, size)) throw new BadBytes("the bytes are not UTF-8 text")
    val need = 16 + Rows.padded(size)
    if (need > buffer.length) buffer = new Array[Byte](need * 2)
    Platform.putLong(buffer, Rows.Base, 0L)
    Platform.putLong(buffer, Rows.Base + 8, (16L << 32) | size)
    if (need > 16) Platform.putLong(buffer, Rows.Base + need - 8, 0L)
    Platform.copyMemory(base, offset, buffer, Rows.Base + 16, size)
    row.pointTo(buffer, need)
    row
  }
}

/** Text with exactly one JSON value; a JSON parser alone would ignore what follows the first value. */
final class JsonTextReader extends Reader(RowType(StringType)) {
  private val text = new BytesReader(StringType)
  override def open(): Unit = text.open()
  override def read(base: AnyRef, offset: Long, size: Int): UnsafeRow = {
    val row = text.read(base, offset, size)
    val end = JsonTextReader.endOfFirst(base, offset, size)
    if (end < size) throw new BadBytes(s"there is more after the JSON value, from byte $end on")
    row
  }
}

object JsonTextReader {
  /** Where the first object or array and the white space after it end; the size if it is neither. */
  private def endOfFirst(base: AnyRef, offset: Long, size: Int): Int = {
    var i = skip(base, offset, size, 0)
    if (i == size || !isOpening(Platform.getByte(base, offset + i))) return size
    var depth = 0
    var quoted = false
    while (i < size) {
      val c = Platform.getByte(base, offset + i)
      if (quoted) {
        if (c == '\\') i += 1
        else if (c == '"') quoted = false
      } else if (c == '"') quoted = true
      else if (isOpening(c)) depth += 1
      else if (c == '}' || c == ']') {
        depth -= 1
        if (depth == 0) return skip(base, offset, size, i + 1)
      }
      i += 1
    }
    size
  }
  private def isOpening(c: Byte): Boolean = c == '{' || c == '['
  private def skip(base: AnyRef, offset: Long, size: Int, from: Int): Int = {
    var i = from
    while (i < size && Platform.getByte(base, offset + i) <= ' ' && Platform.getByte(base, offset + i) >= 0) i += 1
    i
  }
}

object Utf8 {
  def valid(base: AnyRef, offset: Long, size: Int): Boolean = {
    var i = 0
    while (i + 8 <= size && (Platform.getLong(base, offset + i) & 0x8080808080808080L) == 0) i += 8
    while (i < size && Platform.getByte(base, offset + i) >= 0) i += 1
    i == size || UTF8String.fromAddress(base, offset, size).isValid()
  }
}

/** Numbers of fixed size, big endian, as Kafka's serializers write them. */
final class FixedReader(t: DataType, width: Int, named: String) extends Reader(RowType(t)) {
  @transient private var buffer: Array[Byte] = _
  @transient private var row: UnsafeRow = _
  override def open(): Unit = { buffer = new Array[Byte](16); row = Rows.of(buffer, 1) }

  override def read(base: AnyRef, offset: Long, size: Int): UnsafeRow = {
    if (size != width) throw new BadBytes(s"expected $width byte${if (width == 1) "" else "s"} for $named, found $size")
    t match {
      case IntegerType => row.setInt(0, Integer.reverseBytes(Platform.getInt(base, offset)))
      case LongType => row.setLong(0, java.lang.Long.reverseBytes(Platform.getLong(base, offset)))
      case DoubleType =>
        row.setDouble(0, java.lang.Double.longBitsToDouble(java.lang.Long.reverseBytes(Platform.getLong(base, offset))))
      case _ =>
        val b = Platform.getByte(base, offset)
        if (b != 0 && b != 1) throw new BadBytes(s"expected 0 or 1 for a Bool, found $b")
        row.setBoolean(0, b == 1)
    }
    row
  }
}

/** A serde given as an expression over the raw bytes: JSON, windowed keys, the user's own. */
final class ExpressionReader(decode: Bound) extends Reader(decode.result) {
  @transient private var project: Projection = _
  @transient private var input: GenericInternalRow = _
  override def open(): Unit = { project = decode.compile(); input = new GenericInternalRow(1) }

  override def read(base: AnyRef, offset: Long, size: Int): UnsafeRow = {
    val raw = new Array[Byte](size)
    Platform.copyMemory(base, offset, raw, Rows.Base, size)
    input.update(0, raw)
    val r = project(input)
    if (r == null) throw new BadBytes("the serde returned null for bytes that are not null")
    r
  }
}
