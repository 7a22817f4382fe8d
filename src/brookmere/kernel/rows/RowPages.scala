package brookmere.kernel.rows

import java.util.{ArrayList, Arrays}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Keeps the rows of a batch as bytes in large pages; an address is a page number and a position. */
final class RowPages {
  private val pages = new ArrayList[Array[Byte]]()
  private var current: Array[Byte] = null
  private var used = 0

  def append(r: UnsafeRow): Long = {
    val n = r.getSizeInBytes
    if (current == null || used + n + 8 > current.length) {
      current = new Array[Byte](math.max(RowPages.Size, n + 8))
      used = 0
      pages.add(current)
    }
    Platform.putLong(current, Rows.Base + used, n)
    Platform.copyMemory(r.getBaseObject, r.getBaseOffset, current, Rows.Base + used + 8, n)
    val address = ((pages.size - 1).toLong << 32) | used
    used += n + 8
    address
  }

  def point(address: Long, to: UnsafeRow): Unit = {
    val page = pages.get((address >>> 32).toInt)
    val at = Rows.Base + address.toInt
    to.pointTo(page, at + 8, Platform.getLong(page, at).toInt)
  }
}

object RowPages {
  private val Size = 1 << 20
}

/** Rows of one task that arrived in ascending order: addresses into pages, and the head's order. */
final class Run(pages: RowPages) {
  private var addresses = new Array[Long](256)
  private var count = 0
  private var next = 0
  private var lastClock = Long.MinValue
  private var lastSource = Int.MinValue
  private var lastSeq = Long.MinValue
  private var lastDue = Long.MinValue
  private var lastStep = Long.MinValue
  private val head = new UnsafeRow(Layout.Fields)
  var clock = 0L
  var source = 0
  var seq = 0L
  var due = 0L
  var step = 0L

  /** True if `r` comes after the row that was added last. */
  def follows(r: UnsafeRow): Boolean = {
    val c = r.getLong(Layout.Clock)
    if (c != lastClock) return c > lastClock
    val s = r.getInt(Layout.Source)
    if (s != lastSource) return s > lastSource
    val q = r.getLong(Layout.Seq)
    if (q != lastSeq) return q > lastSeq
    val d = r.getLong(Layout.Due)
    if (d != lastDue) return d > lastDue
    r.getLong(Layout.Step) >= lastStep
  }

  def add(r: UnsafeRow): Unit = {
    if (count == addresses.length) addresses = Arrays.copyOf(addresses, count * 2)
    addresses(count) = pages.append(r)
    count += 1
    lastClock = r.getLong(Layout.Clock)
    lastSource = r.getInt(Layout.Source)
    lastSeq = r.getLong(Layout.Seq)
    lastDue = r.getLong(Layout.Due)
    lastStep = r.getLong(Layout.Step)
  }

  /** Moves to the next row; false at the end. */
  def advance(): Boolean =
    if (next >= count) false
    else {
      pages.point(addresses(next), head)
      next += 1
      clock = head.getLong(Layout.Clock)
      source = head.getInt(Layout.Source)
      seq = head.getLong(Layout.Seq)
      due = head.getLong(Layout.Due)
      step = head.getLong(Layout.Step)
      true
    }

  def row: UnsafeRow = head

  def before(o: Run): Boolean =
    if (clock != o.clock) clock < o.clock
    else if (source != o.source) source < o.source
    else if (seq != o.seq) seq < o.seq
    else if (due != o.due) due < o.due
    else step < o.step
}
