package org.apache.spark.sql.brookmere

import brookmere.kernel.expr.{Reader, RowType, Writer}
import brookmere.kernel.rows.Rows

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenFallback
import org.apache.spark.sql.types._

/** The built-in wire formats as expressions, for serdes that are composed of others. */
object Wire {
  def read(raw: Column, kind: String): Column = Internals.column(ReadWire(Internals.expression(raw), kind))
  def write(value: Column, kind: String): Column = Internals.column(WriteWire(Internals.expression(value), kind))
}

case class ReadWire(child: Expression, kind: String) extends UnaryExpression with CodegenFallback {
  @transient private lazy val reader = { val r = Reader.of(kind); r.open(); r }
  override def dataType: DataType = Reader.of(kind).result.dataType
  override def nullable: Boolean = true
  override def nullIntolerant: Boolean = true
  override def prettyName: String = "brookmere_read"
  override protected def nullSafeEval(v: Any): Any = {
    val bytes = v.asInstanceOf[Array[Byte]]
    InternalRow.copyValue(reader.read(bytes, Rows.Base, bytes.length).get(0, dataType))
  }
  override protected def withNewChildInternal(c: Expression): ReadWire = copy(c)
}

case class WriteWire(child: Expression, kind: String) extends UnaryExpression with CodegenFallback {
  @transient private lazy val writer = { val w = Writer.of(kind, RowType(child.dataType)); w.open(); w }
  @transient private lazy val packer = UnsafeProjection.create(Seq(BoundReference(0, child.dataType, nullable = true)))
  override def dataType: DataType = BinaryType
  override def nullable: Boolean = true
  override def nullIntolerant: Boolean = true
  override def prettyName: String = "brookmere_write"
  override protected def nullSafeEval(v: Any): Any = writer.bytes(packer(InternalRow(v)))
  override protected def withNewChildInternal(c: Expression): WriteWire = copy(c)
}
