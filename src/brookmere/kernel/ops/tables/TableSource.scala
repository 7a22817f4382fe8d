package brookmere.kernel.ops.tables

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Reads a stream as a table: the last value per key in order of arrival, null deletes. */
final class TableSource(id: Int, name: String, store: String, sendOld: Boolean)
    extends KeyValueTable(id, name, store, sendOld) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (key == null) drop()
    else if (store == null) forward(key, value, null, ts)
    else {
      val e = rows.entry(key)
      change(e, key, value, rows.value(e), ts)
    }
}
