package brookmere.kernel.ops.stateless

import brookmere.kernel.core._

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Passes records and table updates on unchanged. `of` is the table that updates come from. */
final class PassThrough(id: Int, name: String, of: View = null) extends Processor(id, name) with View {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = forward(key, value, old, ts)
  override def look(): Lookup = of.look()
  override def sources: Seq[View] = Seq(of)
  override def over(sources: Seq[View]): View = sources.head
}
