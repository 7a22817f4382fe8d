package brookmere.kernel.ops.windows

import brookmere.kernel.core.Dropped
import brookmere.kernel.state.{Clock, Item}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Folds records into windows at fixed positions: tumbling, hopping, and the one window without end. */
final class TimeWindowAggregate(id: Int, name: String, fold: Fold, emission: Emission, size: Long, step: Long,
    grace: Long, begin: Long)
    extends WindowAggregate(id, name, fold, emission) {
  private def isUnlimited = size == Long.MaxValue
  override protected def endOf(i: Item): Long = if (isUnlimited) Long.MaxValue else i.time + size

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (isSkipped(key, value)) skip(key, value, ts)
    else {
      clock.advance(ts)
      val closed = closeTime
      if (isUnlimited) { if (ts >= begin) add(key, value, begin, ts) }
      else {
        var start = firstWindow(ts)
        while (start <= ts) {
          if (start + size > closed) add(key, value, start, ts)
          else leaveOut(Dropped.Late, key, value, ts, start, start + size)
          start += step
        }
      }
      emitClosed(closed)
    }

  override protected def closeTime: Long = clock.time - grace

  private def firstWindow(ts: Long): Long = math.max(0L, ts - size + step) / step * step

  private def add(key: UnsafeRow, value: UnsafeRow, window: Long, ts: Long): Unit = {
    val g = rows.part(key)
    var i = rows.item(g, window, 0L)
    val isNew = alive(i) == null
    val before = if (isNew) start else rows.value(i)
    val time = if (isNew) ts else math.max(ts, i.ts)
    val after = folded(key, value, before, ts)
    if (i == null) i = rows.add(g, window, 0L)
    update(i, key, after, valueBefore(before), time)
  }

  override protected def closedFrom(sentTo: Long): Long =
    if (sentTo == Clock.NoTime) 0L else math.max(0L, sentTo - size) + 1
  override protected def closedTo(closeTime: Long): Long = closeTime - size
  override protected def mayHaveClosed(from: Long, to: Long): Boolean =
    firstWindow(to) != firstWindow(from - 1) || lastWindow(to) != lastWindow(from - 1)
  private def lastWindow(ts: Long): Long = ts / step * step
}
