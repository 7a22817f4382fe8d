package brookmere.kernel.ops.stateless

import brookmere.kernel.expr.{Compile, RowType}

import org.apache.spark.sql.catalyst.expressions.{BoundReference, GenericInternalRow, UnsafeRow}

/** Packs a value in Spark's internal representation into a row; the row is reused. */
final class Packer(t: RowType) {
  private val input = new GenericInternalRow(1)
  private val project = Compile(Seq(BoundReference(0, t.dataType, nullable = true)))
  def apply(value: Any): UnsafeRow = value match {
    case u: UnsafeRow if t.isStruct => u
    case other =>
      input.update(0, other)
      val r = project(input)
      if (t.isStruct) r.getStruct(0, t.fields) else r
  }
}
