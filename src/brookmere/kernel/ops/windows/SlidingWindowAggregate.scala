package brookmere.kernel.ops.windows

import brookmere.kernel.core.Dropped
import brookmere.kernel.rows.Rows
import brookmere.kernel.state.{Clock, Group, Item}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Folds records into windows around them: one that ends at each record and one that begins just after it, if any record
 * falls into it. Both bounds are inclusive.
 */
final class SlidingWindowAggregate(id: Int, name: String, fold: Fold, emission: Emission, difference: Long, grace: Long)
    extends WindowAggregate(id, name, fold, emission) {
  override protected def endOf(i: Item): Long = i.time + difference
  override protected def keepsBytes: Boolean = true

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (key == null || value == null) skip(key, value, ts)
    else {
      clock.advance(ts)
      val closeTime = this.closeTime
      // Kafka Streams also fails only when it creates the first window.
      if (difference == 0L) throw new IllegalArgumentException("Window endMs must be greater than window startMs.")
      if (ts + difference < closeTime) leaveOut(Dropped.Late, key, value, ts)
      else if (ts < difference) new Early(key, value, ts, closeTime).run()
      else {
        new Usual(key, value, ts, closeTime).run()
        emitClosed(closeTime)
      }
    }

  override protected def closeTime: Long = clock.time - grace

  /** An aggregate as it was when it was read: later updates do not change it. */
  private final class Seen(val value: Array[Byte], val ts: Long) {
    def row: UnsafeRow = if (value == null) null else Rows.of(value, rows.valueFields)
  }

  private abstract class Visit(key: UnsafeRow, value: UnsafeRow, ts: Long, closeTime: Long) {
    protected val group: Group = rows.group(key)
    protected var right: Seen = null
    protected var rightExists = false
    protected var previous = Clock.NoTime
    protected val nothing = new Seen(Rows.bytes(start), ts)

    protected def seen(i: Item): Seen = new Seen(i.value, i.ts)

    /** Positions of the rows that may contain the record, from its earliest window to the one after it. */
    protected def first: Int = group.from(math.max(math.max(0L, ts - 2 * difference), rows.oldest))
    protected def last: Int = group.from(ts + 2) - 1

    protected def exists(window: Long): Boolean = alive(rows.item(group, window, 0L)) != null

    protected def add(window: Long, before: Seen): Unit =
      if (window + difference >= closeTime) {
        val aggregate = before.row
        val after = folded(key, value, aggregate, ts)
        val time = if (aggregate == null) ts else math.max(ts, before.ts)
        update(place(window), key, after, valueBefore(aggregate), time)
      } else leaveOut(Dropped.Late, key, value, ts, window, window + difference)

    protected def place(window: Long): Item = {
      val i = rows.item(group, window, 0L)
      if (i == null) rows.add(group, window, 0L) else i
    }

    /** The window after the record starts with what is in the windows to its right. */
    protected def addRight(): Unit =
      if (!rightExists && right != null && right.ts > ts) update(place(ts + 1), key, right.row, null, right.ts)
  }

  private final class Usual(key: UnsafeRow, value: UnsafeRow, ts: Long, closeTime: Long)
      extends Visit(key, value, ts, closeTime) {
    def run(): Unit = {
      var left: Seen = null
      var leftExists = false
      var i = last
      val end = first
      var done = false
      while (!done && i >= end) {
        val w = group(i)
        if (w.value != null) {
          val windowEnd = w.time + difference
          if (w.time == ts + 1) rightExists = true
          else if (windowEnd > ts) {
            val before = seen(w)
            if (right == null) right = before
            add(w.time, before)
          } else if (windowEnd == ts) {
            leftExists = true
            val before = seen(w)
            add(w.time, before)
            // The previous record is in this window, unless it has the same time: then all is done already.
            if (before.ts < ts) previous = before.ts else return
          } else {
            left = seen(w)
            previous = left.ts
            done = true
          }
        }
        i -= 1
      }
      val next = previous + 1
      if (previous != Clock.NoTime && !exists(next) && next + difference >= ts) add(next, nothing)
      if (!leftExists) {
        val inside = previous != Clock.NoTime && ts - difference <= previous
        add(ts - difference, if (inside) new Seen(left.value, ts) else nothing)
      }
      addRight()
    }
  }

  /** Windows do not begin before 0: records before the first full window share the one from 0. */
  private final class Early(key: UnsafeRow, value: UnsafeRow, ts: Long, closeTime: Long)
      extends Visit(key, value, ts, closeTime) {
    def run(): Unit = {
      var shared: Seen = null
      var i = group.from(math.max(0L, rows.oldest))
      val end = last
      while (i <= end) {
        val w = group(i)
        if (w.value != null) {
          if (w.time == 0) {
            shared = seen(w)
            if (shared.ts < ts) previous = shared.ts
          } else if (w.time <= ts) {
            right = seen(w)
            add(w.time, right)
          } else rightExists = true
        }
        i += 1
      }
      if (right == null && shared != null && shared.ts > ts) right = shared
      addRight()
      if (previous != Clock.NoTime && !exists(previous + 1)) add(previous + 1, nothing)
      add(0L, if (shared == null) nothing else shared)
    }
  }

  override protected def closedFrom(sentTo: Long): Long =
    if (sentTo == Clock.NoTime) 0L else math.max(0L, sentTo - difference)
  override protected def closedTo(closeTime: Long): Long = closeTime - difference - 1
  override protected def mayHaveClosed(from: Long, to: Long): Boolean = true
}
