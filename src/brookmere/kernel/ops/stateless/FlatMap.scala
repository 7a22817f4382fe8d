package brookmere.kernel.ops.stateless

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection, RowType}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Sends one record for each element of an array of struct<key, value>: flat_map. */
final class FlatMap(id: Int, name: String, array: Bound, keyType: RowType, valueType: RowType)
    extends Evaluating(id, name) {
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
        if (a.isNullAt(i)) throw new BadBytes("flat_map returned an array with a null instead of a key-value pair")
        val pair = a.getStruct(i, 2)
        forward(part(pair, 0, keyType, keys), part(pair, 1, valueType, values), null, ts)
        i += 1
      }
    }
  }

  private def part(pair: InternalRow, i: Int, t: RowType, packer: Packer): UnsafeRow =
    if (pair.isNullAt(i)) null else packer(pair.get(i, t.dataType))
}
