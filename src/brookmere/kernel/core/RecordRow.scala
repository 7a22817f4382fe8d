package brookmere.kernel.core

import org.apache.spark.sql.catalyst.expressions.{BaseGenericInternalRow, UnsafeRow}

/** The record as an expression sees it: key, value, timestamp, and the aggregate if there is one. */
final class RecordRow extends BaseGenericInternalRow {
  var key: UnsafeRow = null
  var value: UnsafeRow = null
  var ts = 0L
  var aggregate: UnsafeRow = null

  def set(key: UnsafeRow, value: UnsafeRow, ts: Long): RecordRow = {
    this.key = key
    this.value = value
    this.ts = ts
    this
  }

  override def numFields: Int = 4
  override def isNullAt(i: Int): Boolean = i match {
    case 0 => key == null
    case 1 => value == null
    case 2 => false
    case 3 => aggregate == null
  }
  override def getLong(i: Int): Long = ts
  override protected def genericGet(i: Int): Any = i match {
    case 0 => key
    case 1 => value
    case 2 => ts
    case 3 => aggregate
  }
  override def setNullAt(i: Int): Unit = throw new UnsupportedOperationException
  override def update(i: Int, v: Any): Unit = throw new UnsupportedOperationException
}

/** A processor that evaluates expressions on the record. */
abstract class Evaluating(id: Int, name: String) extends Processor(id, name) {
  @transient protected var record: RecordRow = _
  override def open(): Unit = { super.open(); record = new RecordRow }
}
