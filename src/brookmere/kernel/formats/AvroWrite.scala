package brookmere.kernel.formats

import java.math.BigInteger

import scala.jdk.CollectionConverters._

import brookmere.kernel.core.BadBytes

import org.apache.avro.{LogicalTypes, Schema}
import org.apache.avro.generic.GenericData
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.util.{ArrayData, MapData}
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String

/** Writes values of a Spark type by an Avro schema. */
abstract class AvroWrite {
  def write(value: Any, out: Output): Unit
}

object AvroWrite {
  def apply(t: DataType, schema: Schema, path: String = "value"): AvroWrite = schema.getType match {
    case Schema.Type.UNION => union(t, schema, path)
    case Schema.Type.NULL => (v, _) => if (v != null) throw new BadBytes(s"$path must be null")
    case _ if t == NullType => (_, _) => throw new BadBytes(s"$path is null, which the schema does not allow")
    case _ =>
      val step = filled(t, schema, path)
      (v, out) => {
        if (v == null) throw new BadBytes(s"$path is null, which the schema does not allow")
        step.write(v, out)
      }
  }

  private def filled(t: DataType, schema: Schema, path: String): AvroWrite = (schema.getType, t) match {
    case (Schema.Type.RECORD, s: StructType) => record(s, schema, path)
    case (Schema.Type.ARRAY, ArrayType(e, _)) => array(e, schema, path)
    case (Schema.Type.MAP, MapType(_: StringType, v, _)) => map(v, schema, path)
    case (Schema.Type.ENUM, _: StringType) => symbol(schema, path)
    case (Schema.Type.BOOLEAN, BooleanType) => (v, out) => out.byte(if (v.asInstanceOf[Boolean]) 1 else 0)
    case (Schema.Type.INT, ByteType | ShortType | IntegerType | DateType) =>
      (v, out) => out.zigzag(v.asInstanceOf[Number].longValue)
    case (Schema.Type.LONG, TimestampType | TimestampNTZType) =>
      val from = AvroTime.fromMicros(schema)
      (v, out) => out.zigzag(from(v.asInstanceOf[Long]))
    case (Schema.Type.LONG, ByteType | ShortType | IntegerType | LongType) =>
      (v, out) => out.zigzag(v.asInstanceOf[Number].longValue)
    case (Schema.Type.FLOAT, FloatType) =>
      (v, out) => out.fixed32(java.lang.Float.floatToIntBits(v.asInstanceOf[Float]))
    case (Schema.Type.DOUBLE, ByteType | ShortType | IntegerType | FloatType | DoubleType) =>
      (v, out) => out.fixed64(java.lang.Double.doubleToLongBits(v.asInstanceOf[Number].doubleValue))
    case (Schema.Type.BYTES | Schema.Type.FIXED, _: DecimalType) => decimal(schema, path)
    case (Schema.Type.BYTES, BinaryType) =>
      (v, out) => { val b = v.asInstanceOf[Array[Byte]]; out.zigzag(b.length); out.all(b) }
    case (Schema.Type.FIXED, BinaryType) => (v, out) => {
      val b = v.asInstanceOf[Array[Byte]]
      if (b.length != schema.getFixedSize)
        throw new BadBytes(s"$path has ${b.length} bytes, where the schema says ${schema.getFixedSize}")
      out.all(b)
    }
    case (Schema.Type.STRING, _: StringType) =>
      (v, out) => { val s = v.asInstanceOf[UTF8String]; out.zigzag(s.numBytes); out.text(s) }
    case _ => throw new IllegalArgumentException(s"$path of the type ${t.sql} cannot be written as $schema")
  }

  private def record(s: StructType, schema: Schema, path: String): AvroWrite = {
    val fields = schema.getFields.asScala.toArray.map { f =>
      val i = s.fields.indexWhere(_.name == f.name)
      if (i >= 0) (i, s.fields(i).dataType, apply(s.fields(i).dataType, f.schema, s"$path.${f.name}"))
      else (-1, null: DataType, absent(f, path))
    }
    (v, out) => {
      val row = v.asInstanceOf[InternalRow]
      var k = 0
      while (k < fields.length) {
        val (i, t, step) = fields(k)
        step.write(if (i < 0 || row.isNullAt(i)) null else row.get(i, t), out)
        k += 1
      }
    }
  }

  /** A field that the value does not have: its default, or null. */
  private def absent(f: Schema.Field, path: String): AvroWrite = {
    val fixed =
      if (f.hasDefaultValue) AvroRead.encoded(f.schema, new GenericData().getDefaultValue(f))
      else if (f.schema.isNullable) AvroRead.encoded(f.schema, null)
      else throw new IllegalArgumentException(s"$path.${f.name} is absent, and has no default")
    (_, out) => out.all(fixed)
  }

  private def array(e: DataType, schema: Schema, path: String): AvroWrite = {
    val step = apply(e, schema.getElementType, s"$path[]")
    (v, out) => {
      elements(v.asInstanceOf[ArrayData], out)((a, i) => step.write(if (a.isNullAt(i)) null else a.get(i, e), out))
    }
  }

  private def map(value: DataType, schema: Schema, path: String): AvroWrite = {
    val step = apply(value, schema.getValueType, s"$path[]")
    (v, out) => {
      val m = v.asInstanceOf[MapData]
      val values = m.valueArray
      elements(m.keyArray, out) { (keys, i) =>
        val key = keys.getUTF8String(i)
        out.zigzag(key.numBytes)
        out.text(key)
        step.write(if (values.isNullAt(i)) null else values.get(i, value), out)
      }
    }
  }

  private def elements(a: ArrayData, out: Output)(one: (ArrayData, Int) => Unit): Unit = {
    val n = a.numElements
    if (n > 0) {
      out.zigzag(n)
      var i = 0
      while (i < n) { one(a, i); i += 1 }
    }
    out.byte(0)
  }

  private def symbol(schema: Schema, path: String): AvroWrite = {
    val numbers = schema.getEnumSymbols.asScala.zipWithIndex.map { case (s, i) => UTF8String.fromString(s) -> i }.toMap
    (v, out) => numbers.get(v.asInstanceOf[UTF8String]) match {
      case Some(i) => out.zigzag(i)
      case None => throw new BadBytes(
        s"$path is '$v', where the enum ${schema.getName} has ${schema.getEnumSymbols.asScala.mkString(", ")}")
    }
  }

  private def decimal(schema: Schema, path: String): AvroWrite = {
    val d = schema.getLogicalType.asInstanceOf[LogicalTypes.Decimal]
    val limit = BigInteger.TEN.pow(d.getPrecision)
    (v, out) => {
      val unscaled =
        try v.asInstanceOf[Decimal].toJavaBigDecimal.setScale(d.getScale).unscaledValue
        catch {
          case _: ArithmeticException =>
            throw new BadBytes(s"$path is $v, which has more than ${d.getScale} digits after the point")
        }
      if (unscaled.abs.compareTo(limit) >= 0)
        throw new BadBytes(s"$path is $v, which has more than ${d.getPrecision} digits")
      val bytes = unscaled.toByteArray
      if (schema.getType == Schema.Type.BYTES) { out.zigzag(bytes.length); out.all(bytes) }
      else {
        if (bytes.length > schema.getFixedSize)
          throw new BadBytes(s"$path is $v, which does not fit ${schema.getFixedSize} bytes")
        var i = bytes.length
        while (i < schema.getFixedSize) { out.byte(if (unscaled.signum < 0) -1 else 0); i += 1 }
        out.all(bytes)
      }
    }
  }

  private def union(t: DataType, schema: Schema, path: String): AvroWrite = {
    val members = schema.getTypes.asScala.toArray
    val none = members.indexWhere(_.getType == Schema.Type.NULL)
    val some = t match {
      case s: StructType if AvroUnion.isStruct(schema) && s.fields.forall(_.name.matches("member\\d+")) =>
        choice(s, schema, path)
      case _ => single(t, schema, path)
    }
    (v, out) =>
      if (v != null) some.write(v, out)
      else if (none >= 0) out.zigzag(none)
      else throw new BadBytes(s"$path is null, which the schema does not allow")
  }

  /** A value that is one member of the union: the first that it fits. */
  private def single(t: DataType, schema: Schema, path: String): AvroWrite = {
    val members = schema.getTypes.asScala.zipWithIndex.iterator.filter(_._1.getType != Schema.Type.NULL)
    val fitting = members.flatMap { case (m, i) =>
      try Some((i, apply(t, m, path)))
      catch { case _: IllegalArgumentException => None }
    }
    if (!fitting.hasNext) throw new IllegalArgumentException(s"$path of the type ${t.sql} cannot be written as $schema")
    val (i, step) = fitting.next()
    (v, out) => { out.zigzag(i); step.write(v, out) }
  }

  /** A struct with one field per member: writes the field that is not null. */
  private def choice(s: StructType, schema: Schema, path: String): AvroWrite = {
    val steps = s.fields.map { f =>
      val position = f.name.stripPrefix("member").toInt
      val i = schema.getTypes.asScala.indices.find(m =>
        schema.getTypes.get(m).getType != Schema.Type.NULL && AvroUnion.position(schema, m) == position)
      val member = i.getOrElse(throw new IllegalArgumentException(s"$path.${f.name} is not a member of $schema"))
      (member, apply(f.dataType, schema.getTypes.get(member), s"$path.${f.name}"))
    }
    (v, out) => {
      val row = v.asInstanceOf[InternalRow]
      val set = s.fields.indices.filter(i => !row.isNullAt(i))
      if (set.length != 1)
        throw new BadBytes(s"$path has ${set.length} members that are not null, where a union has one")
      out.zigzag(steps(set.head)._1)
      steps(set.head)._2.write(row.get(set.head, s.fields(set.head).dataType), out)
    }
  }
}
