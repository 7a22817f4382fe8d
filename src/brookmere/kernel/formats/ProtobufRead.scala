package brookmere.kernel.formats

import scala.collection.mutable.ArrayBuffer

import brookmere.kernel.core.BadBytes

import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types.Decimal
import org.apache.spark.unsafe.types.UTF8String

/** Reads messages as rows; the fields are in the order of the message's definition. */
final class ProtobufRead(root: ProtobufMessage) {
  import ProtobufSchema._

  /** What is known of a message while its bytes are read: a field may occur again. */
  private final class Open(val message: ProtobufMessage) {
    val values = new Array[Any](message.fields.length)
  }

  def read(in: Input): GenericInternalRow = {
    val open = new Open(root)
    fields(in, open, 0)
    row(open)
  }

  private def fields(in: Input, open: Open, depth: Int): Unit = {
    if (depth > MostNested) throw new BadBytes(s"the message is nested more than $MostNested times")
    while (in.left > 0) {
      val tag = in.varint()
      val number = (tag >>> 3).toInt
      if (number <= 0 || tag >>> 32 != 0)
        throw new BadBytes(s"found the field number ${tag >>> 3} before byte ${in.at}")
      val wire = (tag & 7).toInt
      val f = open.message.field(number)
      if (f == null) skip(in, wire, number, 0)
      else if (f.wire == wire) one(in, f, open, depth)
      else if (wire == Bytes && f.repeated && f.wire != Bytes) packed(in, f, open)
      else skip(in, wire, number, 0)
    }
  }

  private def packed(in: Input, f: ProtobufField, open: Open): Unit = {
    val before = in.narrow(length(in))
    while (in.left > 0) add(f, open, scalar(in, f))
    in.widen(before)
  }

  private def one(in: Input, f: ProtobufField, open: Open, depth: Int): Unit = f.kind match {
    case "message" if f.repeated => add(f, open, inside(in, new Open(f.message), depth))
    case "message" =>
      val inner = open.values(f.position) match {
        // A message that occurs again is merged with the previous one.
        case o: Open => o
        case _ => new Open(f.message)
      }
      set(f, open, inside(in, inner, depth))
    case "map" =>
      val entry = inside(in, new Open(f.message), depth)
      val entries = open.values(f.position) match {
        case null => val m = new java.util.LinkedHashMap[Any, Any]; open.values(f.position) = m; m
        case m => m.asInstanceOf[java.util.LinkedHashMap[Any, Any]]
      }
      val key = settled(entry, f.message.fields(0))
      val value = settled(entry, f.message.fields(1))
      // An entry without a message has an empty one.
      val isEmpty = value == null && f.message.fields(1).kind == "message"
      entries.put(key, if (isEmpty) row(new Open(f.message.fields(1).message)) else value)
    case "timestamp" | "wrapped" =>
      val inner = inside(in, new Open(f.message), depth)
      val value = if (f.kind == "timestamp") micros(inner) else settled(inner, f.message.fields(0))
      if (f.repeated) add(f, open, value) else set(f, open, value)
    case _ =>
      val value = scalar(in, f)
      // A number that a closed enum has no name for counts as absent.
      if (value != null) { if (f.repeated) add(f, open, value) else set(f, open, value) }
  }

  private def inside(in: Input, open: Open, depth: Int): Open = {
    val before = in.narrow(length(in))
    fields(in, open, depth + 1)
    in.widen(before)
    open
  }

  private def set(f: ProtobufField, open: Open, value: Any): Unit = {
    if (f.oneof >= 0) open.message.fields.foreach(o => if (o.oneof == f.oneof) open.values(o.position) = null)
    open.values(f.position) = value
  }

  private def add(f: ProtobufField, open: Open, value: Any): Unit = if (value != null) open.values(f.position) match {
    case b: ArrayBuffer[_] => b.asInstanceOf[ArrayBuffer[Any]] += value
    case _ => open.values(f.position) = ArrayBuffer[Any](value)
  }

  private def length(in: Input): Int = {
    val n = in.varint()
    in.need(n)
    n.toInt
  }

  private def scalar(in: Input, f: ProtobufField): Any = f.kind match {
    case "int32" => in.varint().toInt
    case "int64" => in.varint()
    case "uint32" => in.varint() & 0xffffffffL
    case "uint64" => unsigned(in.varint())
    case "sint32" => val n = in.varint().toInt; (n >>> 1) ^ -(n & 1)
    case "sint64" => in.zigzag()
    case "bool" => in.varint() != 0
    case "enum" => symbol(f.symbols, in.varint().toInt)
    case "fixed64" => unsigned(in.fixed64())
    case "sfixed64" => in.fixed64()
    case "double" => java.lang.Double.longBitsToDouble(in.fixed64())
    case "fixed32" => in.fixed32() & 0xffffffffL
    case "sfixed32" => in.fixed32()
    case "float" => java.lang.Float.intBitsToFloat(in.fixed32())
    case "string" => in.text(length(in))
    case "bytes" => in.slice(length(in))
  }

  private def unsigned(n: Long): Decimal =
    if (n >= 0) Decimal(BigDecimal(n), 20, 0)
    else Decimal(BigDecimal(BigInt(java.lang.Long.toUnsignedString(n))), 20, 0)

  private def symbol(e: ProtobufEnum, number: Int): UTF8String = e.names.get(number) match {
    case Some(name) => UTF8String.fromString(name)
    case None => if (e.closed) null else UTF8String.fromString(number.toString)
  }

  private def skip(in: Input, wire: Int, number: Int, depth: Int): Unit = wire match {
    case Varint => in.varint()
    case Fixed64 => in.skip(8)
    case Bytes => in.skip(in.varint())
    case Fixed32 => in.skip(4)
    case StartGroup =>
      if (depth > MostNested) throw new BadBytes(s"the message is nested more than $MostNested times")
      var tag = in.varint()
      while ((tag & 7) != EndGroup) { skip(in, (tag & 7).toInt, (tag >>> 3).toInt, depth + 1); tag = in.varint() }
      if ((tag >>> 3).toInt != number)
        throw new BadBytes(s"found the end of the group ${tag >>> 3} inside the group $number")
      case _ => throw new BadBytes(s"found the unknown wire type $wire of the field $number before byte ${in.at}")
  }

  private def row(open: Open): GenericInternalRow = {
    val values = new Array[Any](open.values.length)
    var i = 0
    while (i < values.length) { values(i) = settled(open, open.message.fields(i)); i += 1 }
    new GenericInternalRow(values)
  }

  /** The value of a field when its whole message is read. */
  private def settled(open: Open, f: ProtobufField): Any = open.values(f.position) match {
    case null =>
      if (f.kind == "map") new ArrayBasedMapData(empty, empty)
      else if (f.repeated) empty
      else f.presence match {
        case "implicit" => default(f)
        case "required" => throw new BadBytes(s"the field ${f.name} of ${open.message.name} is required, and absent")
        case _ => null
      }
    case o: Open => row(o)
    case b: ArrayBuffer[_] => new GenericArrayData(b.iterator.map { case o: Open => row(o); case v => v }.toArray[Any])
    case m: java.util.LinkedHashMap[_, _] =>
      val data = (a: java.util.Collection[_]) => new GenericArrayData(a.toArray.asInstanceOf[Array[Any]])
      new ArrayBasedMapData(data(m.keySet), data(m.values))
    case v => v
  }

  private def empty = new GenericArrayData(Array.empty[Any])

  private def default(f: ProtobufField): Any = f.kind match {
    case "int32" | "sint32" | "sfixed32" => 0
    case "int64" | "sint64" | "sfixed64" | "uint32" | "fixed32" => 0L
    case "uint64" | "fixed64" => unsigned(0)
    case "bool" => false
    case "double" => 0.0
    case "float" => 0.0f
    case "string" => UTF8String.EMPTY_UTF8
    case "bytes" => Array.emptyByteArray
    case "enum" => symbol(f.symbols, f.symbols.first)
    case _ => null
  }

  private def micros(open: Open): Long = {
    val seconds = settled(open, open.message.fields(0)).asInstanceOf[Long]
    val nanos = settled(open, open.message.fields(1)).asInstanceOf[Int]
    try Math.addExact(Math.multiplyExact(seconds, 1000000L), Math.floorDiv(nanos, 1000).toLong)
    catch { case _: ArithmeticException => throw new BadBytes(s"found the time $seconds s, which does not fit") }
  }

  private val MostNested = 100
}
