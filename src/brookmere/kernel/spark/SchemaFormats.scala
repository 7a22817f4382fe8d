package org.apache.spark.sql.brookmere

import java.util.{List => JList}

import scala.jdk.CollectionConverters._

import brookmere.kernel.core.BadBytes
import brookmere.kernel.formats._

import org.apache.avro.{Schema, SchemaParseException}
import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types._

/** Formats with a schema, as expressions; with a registry, after its frame. */
object SchemaFormats {
  private val NoId = -1

  /** `authorities`, `certificate` and `key` are texts in PEM, or null. */
  def registry(addresses: JList[String], authorization: String, authorities: String, certificate: String, key: String,
      patienceMs: Long): Registry = {
    val tls = if (authorities == null && certificate == null) null else new Tls(authorities, certificate, key)
    new Registry(addresses.asScala.toArray, authorization, tls, patienceMs)
  }

  def readAvro(raw: Column, schema: JList[String], typeJson: String, registry: Registry): Column =
    Internals.column(ReadAvro(Internals.expression(raw), schema.asScala.toSeq, DataType.fromJson(typeJson), registry))

  /** `id` is the id of the schema, or null without a registry. */
  def writeAvro(value: Column, schema: JList[String], id: Integer): Column =
    Internals.column(WriteAvro(Internals.expression(value), schema.asScala.toSeq, Option(id).fold(NoId)(_.intValue)))

  def readProtobuf(raw: Column, message: String, typeJson: String, framed: Boolean): Column =
    Internals.column(ReadProtobuf(Internals.expression(raw), message, DataType.fromJson(typeJson), framed))

  /** `frame` comes before every value. */
  def writeProtobuf(value: Column, message: String, frame: Array[Byte]): Column =
    Internals.column(WriteProtobuf(Internals.expression(value), message, frame.toSeq))

  /** The last of some schemas, which may refer to the earlier ones. */
  private[brookmere] def parsed(texts: Seq[String]): Schema = {
    // Older registries accepted defaults that do not fit their types; they matter only if one is used.
    val parser = new Schema.Parser().setValidateDefaults(false)
    texts.map(parser.parse).last
  }

  /** The bytes after the frame. */
  def unframed(raw: Column): Column = Internals.column(Unframed(Internals.expression(raw)))
}

/**
 * A format applied to one column: null for null, with buffers of its own; its text omits the schema and the registry.
 */
trait SchemaFormat extends UnaryExpression with CodegenFallback {
  override def nullable: Boolean = true
  override def nullIntolerant: Boolean = true
  override def stateful: Boolean = true
  override def toString: String = s"$prettyName($child)"
}

case class ReadAvro(child: Expression, schema: Seq[String], dataType: DataType, registry: Registry)
    extends SchemaFormat {
  @transient private lazy val reader = SchemaFormats.parsed(schema)
  @transient private lazy val steps = new java.util.HashMap[Int, AvroRead]
  @transient private lazy val plain = AvroRead(reader, reader, dataType)
  @transient private lazy val in = new Input
  override def prettyName: String = "brookmere_read_avro"

  override protected def nullSafeEval(v: Any): Any = {
    val data = v.asInstanceOf[Array[Byte]]
    val step = if (registry == null) plain else written(Frame.id(data))
    in.set(data, if (registry == null) 0 else Frame.Size)
    val value = step.read(in)
    if (in.left > 0) throw new BadBytes(
      s"found ${in.left} byte${if (in.left == 1) "" else "s"} after the value, which ends at byte ${in.at}")
    value
  }

  private def written(id: Int): AvroRead = {
    var step = steps.get(id)
    if (step == null) {
      step = AvroRead(parsed(id, Schemas.get(registry, id, "AVRO").texts), reader, dataType)
      steps.put(id, step)
    }
    step
  }

  private def parsed(id: Int, texts: Seq[String]): Schema =
    try SchemaFormats.parsed(texts)
    catch {
      case e: SchemaParseException =>
        throw new BadBytes(s"the schema $id of the registry is not an Avro schema: ${e.getMessage}")
    }

  override protected def withNewChildInternal(c: Expression): ReadAvro = copy(child = c)
}

case class WriteAvro(child: Expression, schema: Seq[String], id: Int) extends SchemaFormat {
  @transient private lazy val writer = AvroWrite(child.dataType, SchemaFormats.parsed(schema))
  @transient private lazy val out = new Output
  override def dataType: DataType = BinaryType
  override def prettyName: String = "brookmere_write_avro"
  override protected def nullSafeEval(v: Any): Any = {
    out.clear()
    if (id >= 0) Frame.put(out, id)
    writer.write(v, out)
    out.result()
  }
  override protected def withNewChildInternal(c: Expression): WriteAvro = copy(child = c)
}

case class ReadProtobuf(child: Expression, message: String, dataType: DataType, framed: Boolean) extends SchemaFormat {
  @transient private lazy val reader = new ProtobufRead(ProtobufSchema(message))
  @transient private lazy val in = new Input
  override def prettyName: String = "brookmere_read_protobuf"
  override protected def nullSafeEval(v: Any): Any = {
    val data = v.asInstanceOf[Array[Byte]]
    if (framed) {
      Frame.id(data)
      in.set(data, Frame.Size)
      // The number of the message in its file, which the program knows already.
      var count = in.zigzag()
      if (count < 0 || count > in.left)
        throw new BadBytes(s"found a list of $count message numbers after the schema's id")
      while (count > 0) { in.zigzag(); count -= 1 }
    } else in.set(data, 0)
    reader.read(in)
  }
  override protected def withNewChildInternal(c: Expression): ReadProtobuf = copy(child = c)
}

case class WriteProtobuf(child: Expression, message: String, frame: Seq[Byte]) extends SchemaFormat {
  @transient private lazy val writer =
    new ProtobufWrite(ProtobufSchema(message), child.dataType.asInstanceOf[StructType])
  @transient private lazy val front = frame.toArray
  @transient private lazy val out = new Output
  override def dataType: DataType = BinaryType
  override def prettyName: String = "brookmere_write_protobuf"
  override protected def nullSafeEval(v: Any): Any = {
    out.clear()
    out.all(front)
    writer.write(v.asInstanceOf[InternalRow], out)
    out.result()
  }
  override protected def withNewChildInternal(c: Expression): WriteProtobuf = copy(child = c)
}

case class Unframed(child: Expression) extends UnaryExpression with CodegenFallback {
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = true
  override def nullIntolerant: Boolean = true
  override def prettyName: String = "brookmere_unframed"
  override protected def nullSafeEval(v: Any): Any = {
    val data = v.asInstanceOf[Array[Byte]]
    Frame.id(data)
    java.util.Arrays.copyOfRange(data, Frame.Size, data.length)
  }
  override protected def withNewChildInternal(c: Expression): Unframed = copy(child = c)
}
