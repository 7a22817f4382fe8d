package brookmere.kernel.ops.joins

import brookmere.kernel.core._
import brookmere.kernel.ops.tables.KeyValueTable

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Merges the results of both sides of a table join, and keeps them if it has a store. */
final class TableJoinMerge(id: Int, name: String, store: String, sendOld: Boolean, of: JoinView)
    extends KeyValueTable(id, name, store, sendOld) {
  override protected def computed: View = of

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (store == null) forward(key, value, if (sendOld) old else null, ts)
    else change(rows.entry(key), key, value, old, ts)
}
