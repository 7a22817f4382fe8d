package brookmere.kernel.ops.tables

import brookmere.kernel.core.Processor

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** A table that can list all its rows: each step of the iterator passes one row to `to`. */
trait HasSnapshot extends Processor {
  def snapshot(to: (UnsafeRow, UnsafeRow, Long) => Unit): Iterator[Unit]
}
