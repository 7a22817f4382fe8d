package brookmere.kernel.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Packed rows: bytes in Spark's binary row format, and views on them without a copy. */
object Rows {
  val Base: Long = Platform.BYTE_ARRAY_OFFSET

  /** The bytes of a row, in an array of their own. */
  def bytes(row: UnsafeRow): Array[Byte] =
    if (row == null) null
    else {
      val n = row.getSizeInBytes
      val a = new Array[Byte](n)
      Platform.copyMemory(row.getBaseObject, row.getBaseOffset, a, Base, n)
      a
    }

  def of(bytes: Array[Byte], fields: Int): UnsafeRow = {
    val r = new UnsafeRow(fields)
    r.pointTo(bytes, bytes.length)
    r
  }

  /** Points `to` at the binary field `i` of `row`; null if the field is null. */
  def slice(row: UnsafeRow, i: Int, to: UnsafeRow): UnsafeRow =
    if (row.isNullAt(i)) null
    else {
      val at = row.getLong(i)
      to.pointTo(row.getBaseObject, row.getBaseOffset + (at >>> 32).toInt, at.toInt)
      to
    }

  /** A row with one field that is true, for rows of which only the position matters. */
  val mark: UnsafeRow = {
    val a = new Array[Byte](16)
    Platform.putLong(a, Base + 8, 1L)
    of(a, 1)
  }

  def padded(n: Int): Int = (n + 7) & ~7

  /** A packed row with one variable-length field that holds the given bytes. */
  def single(source: AnyRef, offset: Long, length: Int): Array[Byte] = {
    val a = new Array[Byte](16 + padded(length))
    Platform.putLong(a, Base + 8, (16L << 32) | length)
    Platform.copyMemory(source, offset, a, Base + 16, length)
    a
  }
}

/**
 * A table update in one packed row: struct<new, old>, each a packed row or null; and whether it is the latest of its
 * key.
 */
object Change {
  private val Fixed = 24
  /** A bit of the null bitmap that no field uses. */
  private val Past = 4L

  def isLatest(packed: UnsafeRow): Boolean = (Platform.getLong(packed.getBaseObject, packed.getBaseOffset) & Past) == 0L

  def pack(now: UnsafeRow, old: UnsafeRow, isLatest: Boolean): Array[Byte] = {
    val nowSize = if (now == null) 0 else now.getSizeInBytes
    val oldSize = if (old == null) 0 else old.getSizeInBytes
    val a = new Array[Byte](Fixed + nowSize + oldSize)
    var nulls = if (isLatest) 0L else Past
    if (now == null) nulls |= 1L
    else {
      Platform.putLong(a, Rows.Base + 8, (Fixed.toLong << 32) | nowSize)
      Platform.copyMemory(now.getBaseObject, now.getBaseOffset, a, Rows.Base + Fixed, nowSize)
    }
    if (old == null) nulls |= 2L
    else {
      Platform.putLong(a, Rows.Base + 16, ((Fixed + nowSize).toLong << 32) | oldSize)
      Platform.copyMemory(old.getBaseObject, old.getBaseOffset, a, Rows.Base + Fixed + nowSize, oldSize)
    }
    Platform.putLong(a, Rows.Base, nulls)
    a
  }
}
