package brookmere.kernel.ops.tables

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Keeps the rows of a table of an earlier stage, for those who look into it here. */
final class TableCopy(id: Int, name: String, store: String) extends KeyValueTable(id, name, store, sendOld = false) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    rows.put(rows.entry(key), value, ts)
}
