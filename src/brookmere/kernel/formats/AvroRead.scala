package brookmere.kernel.formats

import java.math.{BigDecimal => JBigDecimal, BigInteger}

import scala.jdk.CollectionConverters._

import brookmere.kernel.core.BadBytes

import org.apache.avro.{LogicalType, LogicalTypes, Resolver, Schema}
import org.apache.avro.generic.{GenericData, GenericDatumWriter}
import org.apache.avro.io.EncoderFactory
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow
import org.apache.spark.sql.catalyst.util.{ArrayBasedMapData, GenericArrayData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Reads a value of one Avro schema as a value of another. */
abstract class AvroRead {
  def read(in: Input): Any
}

/**
 * Builds a reader of values of a writer's schema as values of a reader's schema: Avro's own resolver decides what to
 * do, and the result has Spark's representation.
 */
object AvroRead {
  /** Values of `reader` have the type `t`. */
  def apply(writer: Schema, reader: Schema, t: DataType): AvroRead =
    of(Resolver.resolve(Schema.applyAliases(writer, reader), reader, new GenericData), t)

  private def of(action: Resolver.Action, t: DataType): AvroRead = action match {
    case e: Resolver.ErrorAction => failing(s"the schemas do not fit: ${e.toString}")
    case r: Resolver.RecordAdjust => record(r, t.asInstanceOf[StructType])
    case c: Resolver.Container => container(c, t)
    case e: Resolver.EnumAdjust => symbols(e)
    case w: Resolver.WriterUnion => writerUnion(w, t)
    case r: Resolver.ReaderUnion => branch(r.reader, r.firstMatch, r.actualAction, t)
    case _ => plain(action.writer, action.reader, t)
  }

  private def failing(words: String): AvroRead = _ => throw new BadBytes(words)

  private def record(r: Resolver.RecordAdjust, t: StructType): AvroRead = {
    // A field that the reader does not know is skipped: its step is null.
    val writers = r.fieldActions.map(_.writer)
    var kept = 0
    val targets = new Array[Int](writers.length)
    val steps = r.fieldActions.zipWithIndex.map {
      case (_: Resolver.Skip, _) => null
      case (action, i) =>
        targets(i) = r.readerOrder(kept).pos
        kept += 1
        of(action, t.fields(targets(i)).dataType)
    }
    val defaults = r.readerOrder.zipWithIndex.drop(r.firstDefault).map { case (field, i) =>
      field.pos -> constant(field.schema, r.defaults(i - r.firstDefault), t.fields(field.pos).dataType)
    }
    val width = r.reader.getFields.size
    in => {
      val values = new Array[Any](width)
      var i = 0
      while (i < steps.length) {
        if (steps(i) == null) AvroSkip(writers(i), in) else values(targets(i)) = steps(i).read(in)
        i += 1
      }
      i = 0
      while (i < defaults.length) { values(defaults(i)._1) = defaults(i)._2; i += 1 }
      new GenericInternalRow(values)
    }
  }

  /** A default of the reader's schema; it is written by Avro and read back in Spark's representation. */
  private def constant(schema: Schema, value: AnyRef, t: DataType): Any = {
    val in = new Input
    in.set(encoded(schema, value), 0)
    apply(schema, schema, t).read(in)
  }

  private[formats] def encoded(schema: Schema, value: AnyRef): Array[Byte] = {
    val out = new java.io.ByteArrayOutputStream
    val encoder = EncoderFactory.get.directBinaryEncoder(out, null)
    new GenericDatumWriter[AnyRef](schema, new GenericData).write(value, encoder)
    encoder.flush()
    out.toByteArray
  }

  private def container(c: Resolver.Container, t: DataType): AvroRead = t match {
    case ArrayType(e, _) =>
      val step = of(c.elementAction, e)
      in => {
        val values = new scala.collection.mutable.ArrayBuffer[Any]
        blocks(in, values.size) { values += step.read(in) }
        new GenericArrayData(values.toArray[Any])
      }
    case MapType(_, v, _) =>
      val step = of(c.elementAction, v)
      in => {
        val values = new java.util.LinkedHashMap[UTF8String, Any]
        blocks(in, values.size) { values.put(in.text(in.zigzag()), step.read(in)) }
        val data = (a: java.util.Collection[_]) => new GenericArrayData(a.toArray.asInstanceOf[Array[Any]])
        new ArrayBasedMapData(data(values.keySet), data(values.values))
      }
    case other => throw new IllegalArgumentException(s"not an array or a map: ${other.sql}")
  }

  // Elements may have no bytes at all, so only a limit keeps bad bytes from filling the memory.
  private val MostEmpty = 1 << 20

  private[formats] def blocks(in: Input, size: => Int)(one: => Unit): Unit = {
    var count = in.zigzag()
    while (count != 0) {
      if (count < 0) { count = -count; in.zigzag() }
      if (count < 0 || count > math.max(in.left, MostEmpty - size)) throw new BadBytes(
        s"found $count elements at byte ${in.at}, where ${in.left} bytes are left")
      while (count > 0) { one; count -= 1 }
      count = in.zigzag()
    }
  }

  private def symbols(e: Resolver.EnumAdjust): AvroRead = {
    val written = e.writer.getEnumSymbols.asScala.toArray
    val known = e.reader.getEnumSymbols.asScala.map(UTF8String.fromString).toArray
    in => {
      val i = in.zigzag()
      if (i < 0 || i >= written.length) throw new BadBytes(
        s"found the symbol number $i of the enum ${e.writer.getName}, which has ${written.length}")
      val own = if (e.noAdjustmentsNeeded) i.toInt else e.adjustments(i.toInt)
      if (own < 0) throw new BadBytes(
        s"found the symbol ${written(i.toInt)}, which the enum ${e.reader.getName} does not know")
      known(own)
    }
  }

  private def writerUnion(w: Resolver.WriterUnion, t: DataType): AvroRead = {
    val steps = w.actions.zipWithIndex.map { case (action, i) =>
      if (w.unionEquiv) branch(w.reader, i, action, t) else of(action, t)
    }
    in => {
      val i = in.zigzag()
      if (i < 0 || i >= steps.length) throw new BadBytes(s"found the member number $i of a union of ${steps.length}")
      steps(i.toInt).read(in)
    }
  }

  /** A member of a union: its value, or a struct with one field per member. */
  private def branch(union: Schema, i: Int, action: Resolver.Action, t: DataType): AvroRead = {
    if (union.getTypes.get(i).getType == Schema.Type.NULL) return of(action, NullType)
    if (!AvroUnion.isStruct(union)) return of(action, t)
    val s = t.asInstanceOf[StructType]
    val position = AvroUnion.position(union, i)
    val step = of(action, s.fields(position).dataType)
    in => {
      val values = new Array[Any](s.length)
      values(position) = step.read(in)
      new GenericInternalRow(values)
    }
  }

  private def plain(writer: Schema, reader: Schema, t: DataType): AvroRead = (writer.getType, t) match {
    case (Schema.Type.NULL, _) => _ => null
    case (Schema.Type.BOOLEAN, _) => in => in.byte() match {
      case 0 => false
      case 1 => true
      case b => throw new BadBytes(s"expected 0 or 1 for a boolean at byte ${in.at - 1}, found $b")
    }
    case (Schema.Type.INT, IntegerType | DateType) => in => int(in)
    case (Schema.Type.INT, LongType) => in => int(in).toLong
    case (Schema.Type.INT, FloatType) => in => int(in).toFloat
    case (Schema.Type.INT, DoubleType) => in => int(in).toDouble
    case (Schema.Type.INT | Schema.Type.LONG, TimestampType | TimestampNTZType) =>
      val micros = AvroTime.toMicros(if (AvroTime.isTime(writer)) writer else reader)
      in => micros(in.zigzag())
    case (Schema.Type.LONG, LongType) => in => in.zigzag()
    case (Schema.Type.LONG, FloatType) => in => in.zigzag().toFloat
    case (Schema.Type.LONG, DoubleType) => in => in.zigzag().toDouble
    case (Schema.Type.FLOAT, FloatType) => in => java.lang.Float.intBitsToFloat(in.fixed32())
    case (Schema.Type.FLOAT, DoubleType) => in => java.lang.Float.intBitsToFloat(in.fixed32()).toDouble
    case (Schema.Type.DOUBLE, DoubleType) => in => java.lang.Double.longBitsToDouble(in.fixed64())
    case (Schema.Type.BYTES | Schema.Type.STRING, d: DecimalType) => decimal(writer, d, in => in.slice(in.zigzag()))
    case (Schema.Type.FIXED, d: DecimalType) => decimal(writer, d, in => in.slice(writer.getFixedSize))
    case (Schema.Type.BYTES | Schema.Type.STRING, BinaryType) => in => in.slice(in.zigzag())
    case (Schema.Type.BYTES | Schema.Type.STRING, StringType) => in => in.text(in.zigzag())
    case (Schema.Type.FIXED, BinaryType) => in => in.slice(writer.getFixedSize)
    case _ => failing(s"the schemas do not fit: $writer cannot be read as ${t.sql}")
  }

  private def int(in: Input): Int = {
    val n = in.zigzag()
    if (n != n.toInt) throw new BadBytes(s"expected an int at byte ${in.at}, found $n")
    n.toInt
  }

  private def decimal(writer: Schema, t: DecimalType, bytes: Input => Array[Byte]): AvroRead = {
    val scale = writer.getLogicalType match {
      case d: LogicalTypes.Decimal => d.getScale
      case _ => t.scale
    }
    if (scale != t.scale)
      return failing(s"the schemas do not fit: a decimal of scale $scale cannot be read as ${t.sql}")
    in => {
      val unscaled = bytes(in)
      if (unscaled.isEmpty) throw new BadBytes(s"found a decimal without bytes at byte ${in.at}")
      val value = Decimal(new JBigDecimal(new BigInteger(unscaled), scale))
      if (!value.changePrecision(t.precision, t.scale))
        throw new BadBytes(s"found a decimal of more than ${t.precision} digits before byte ${in.at}")
      value
    }
  }
}

/** Skips a value that the reader does not use. */
object AvroSkip {
  def apply(s: Schema, in: Input): Unit = s.getType match {
    case Schema.Type.NULL =>
    case Schema.Type.BOOLEAN => in.skip(1)
    case Schema.Type.INT | Schema.Type.LONG | Schema.Type.ENUM => in.varint()
    case Schema.Type.FLOAT => in.skip(4)
    case Schema.Type.DOUBLE => in.skip(8)
    case Schema.Type.BYTES | Schema.Type.STRING => in.skip(in.zigzag())
    case Schema.Type.FIXED => in.skip(s.getFixedSize)
    case Schema.Type.RECORD => s.getFields.forEach(f => apply(f.schema, in))
    case Schema.Type.ARRAY => AvroRead.blocks(in, 0)(apply(s.getElementType, in))
    case Schema.Type.MAP => AvroRead.blocks(in, 0) { in.skip(in.zigzag()); apply(s.getValueType, in) }
    case Schema.Type.UNION =>
      val i = in.zigzag()
      if (i < 0 || i >= s.getTypes.size)
        throw new BadBytes(s"found the member number $i of a union of ${s.getTypes.size}")
      apply(s.getTypes.get(i.toInt), in)
  }
}

/**
 * A union in Spark: null is null; a single other member, or numbers of two sizes, are a value; anything else is a
 * struct.
 */
object AvroUnion {
  import Schema.Type._
  def isStruct(union: Schema): Boolean = {
    val members = union.getTypes.asScala.map(_.getType).filter(_ != NULL)
    members.size > 1 && members.toSet != Set(INT, LONG) && members.toSet != Set(FLOAT, DOUBLE)
  }
  /** The struct field of a member. */
  def position(union: Schema, member: Int): Int = union.getTypes.asScala.take(member).count(_.getType != NULL)
}

/** Avro timestamps as microseconds, and back. */
object AvroTime {
  private val names = Set("timestamp-millis", "timestamp-micros", "timestamp-nanos", "local-timestamp-millis",
    "local-timestamp-micros", "local-timestamp-nanos")
  private def name(s: Schema): String = s.getLogicalType match {
    case null => ""
    case l: LogicalType => l.getName
  }
  def isTime(s: Schema): Boolean = names(name(s))
  def toMicros(s: Schema): Long => Long =
    if (name(s).endsWith("millis")) n =>
      try Math.multiplyExact(n, 1000L)
      catch { case _: ArithmeticException => throw new BadBytes(s"found $n milliseconds, which is not a valid time") }
    else if (name(s).endsWith("nanos")) n => Math.floorDiv(n, 1000L)
    else n => n
  def fromMicros(s: Schema): Long => Long =
    if (name(s).endsWith("millis")) n => Math.floorDiv(n, 1000L)
    else if (name(s).endsWith("nanos")) n =>
      try Math.multiplyExact(n, 1000L)
      catch { case _: ArithmeticException => throw new BadBytes(s"$n microseconds do not fit a time in nanoseconds") }
    else n => n
}
