package brookmere.kernel.ops.stateless

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection, RowType}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Sends one record for each element of an array, with the same key: flat_map_values. */
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
