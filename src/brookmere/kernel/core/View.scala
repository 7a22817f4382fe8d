package brookmere.kernel.core

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * A table that other processors of the same stage look up. Its processor implements this, whether the rows are stored
 * or computed from other views.
 */
trait View extends Serializable {
  /**
   * A reader of the table. Every processor that reads creates its own in `open`, after the table's `open`; it follows
   * the table's processor from task to task.
   */
  def look(): Lookup

  /** The store that keeps the rows, if one does. */
  def keptIn: String = null

  /** The views that the rows are computed from; none if the table keeps its rows. */
  def sources: Seq[View] = Seq.empty

  /** The same table computed from other views, which represent its sources in another stage. */
  def over(sources: Seq[View]): View = throw new UnsupportedOperationException("the table keeps its rows")
}

/** Finds rows of a table. A row is valid until the next call or until the table changes. */
abstract class Lookup {
  /** The time of the row that was found last. */
  var ts: Long = 0L

  private var found: UnsafeRow = null
  /** Bytes of a store as a row, valid until the next call. */
  protected final def row(bytes: Array[Byte], fields: Int): UnsafeRow = {
    if (found == null) found = new UnsafeRow(fields)
    found.pointTo(bytes, bytes.length)
    found
  }

  /** The row of a key, or null. */
  def get(key: UnsafeRow): UnsafeRow

  /** True if the table knows its rows of earlier times. */
  def isVersioned: Boolean = false

  /** The row that a key had at a time, or null; for versioned tables only. */
  def get(key: UnsafeRow, at: Long): UnsafeRow = throw new UnsupportedOperationException("the table keeps no versions")
}

/** Finds rows that are computed one by one from those of another table. */
abstract class ComputedLookup(from: Lookup) extends Lookup {
  override def isVersioned: Boolean = from.isVersioned
  override def get(key: UnsafeRow): UnsafeRow = computed(key, from.get(key))
  override def get(key: UnsafeRow, at: Long): UnsafeRow = computed(key, from.get(key, at))

  /** The row computed from another one, or from none; sets its time. */
  protected def computed(key: UnsafeRow, value: UnsafeRow): UnsafeRow
}

object View {
  /** The time of a row that was computed from none. */
  val Unknown: Long = -1L
}
