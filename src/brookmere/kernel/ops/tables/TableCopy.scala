package brookmere.kernel.ops.tables

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Keeps the rows of a table of an earlier stage, for processors that look them up in this one. */
final class TableCopy(id: Int, name: String, store: String) extends KeyValueTable(id, name, store, sendOld = false) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    rows.put(rows.entry(key), value, ts)
}
