package brookmere.kernel.core

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * A table whose rows other processors of the same stage look up. Its processor implements this,
 * also where the rows are not stored but computed from other views.
 */
trait View {
  /**
   * A way to look into the table. Everyone who looks makes one of their own in `open`, behind that
   * of the table; it follows the table's processor from task to task.
   */
  def look(): Look
}

/** Finds rows of a table. A row is valid until this one is asked again, or the table changes. */
abstract class Look {
  /** The time of the row found last. */
  var ts: Long = 0L

  /** The row of a key, or null. */
  def get(key: UnsafeRow): UnsafeRow

  /** True if the table knows its rows of earlier times. */
  def isVersioned: Boolean = false

  /** The row that a key had at a time, or null; asked of versioned tables only. */
  def get(key: UnsafeRow, at: Long): UnsafeRow = throw new UnsupportedOperationException("the table keeps no versions")
}
