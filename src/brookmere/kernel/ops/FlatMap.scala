package brookmere.kernel.ops

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Compile, Projection, RowType}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, GenericInternalRow, UnsafeRow}

/** Turns a record into as many as the array has elements, with the key kept: flat_map_values. */
final class FlatMapValues(id: Int, name: String, array: Bound, element: RowType) extends Evaluating(id, name) {
  @transient private var list: Projection = _
  @transient private var packer: Packer = _
  override def open(): Unit = { super.open(); list = array.compile(); packer = new Packer(element) }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val r = list(record.set(key, value, ts))
    if (r != null) {
      val a = r.getArray(0)
      val n = a.numElements()
      var i = 0
      while (i < n) {
        forward(key, if (a.isNullAt(i)) null else packer(a.get(i, element.dataType)), null, ts)
        i += 1
      }
    }
  }
}

/** Turns a record into as many as the array of struct<key, value> has elements: flat_map. */
final class FlatMap(id: Int, name: String, array: Bound, keyType: RowType, valueType: RowType) extends Evaluating(id, name) {
  @transient private var list: Projection = _
  @transient private var keys: Packer = _
  @transient private var values: Packer = _
  override def open(): Unit = {
    super.open()
    list = array.compile()
    keys = new Packer(keyType)
    values = new Packer(valueType)
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    val r = list(record.set(key, value, ts))
    if (r != null) {
      val a = r.getArray(0)
      val n = a.numElements()
      var i = 0
      while (i < n) {
        if (a.isNullAt(i)) throw new BadBytes("flat_map gave an array with a null instead of a key-value pair")
        val pair = a.getStruct(i, 2)
        forward(part(pair, 0, keyType, keys), part(pair, 1, valueType, values), null, ts)
        i += 1
      }
    }
  }

  private def part(pair: InternalRow, i: Int, t: RowType, packer: Packer): UnsafeRow =
    if (pair.isNullAt(i)) null else packer(pair.get(i, t.dataType))
}

/** Packs a value of Spark's inner representation into a row; the row is reused. */
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
