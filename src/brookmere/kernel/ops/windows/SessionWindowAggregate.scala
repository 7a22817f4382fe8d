package brookmere.kernel.ops.windows

import java.util.ArrayList

import brookmere.kernel.core.Dropped
import brookmere.kernel.state.{Group, Item}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Folds records into sessions, which merge when a record closes the gap between them. */
final class SessionWindowAggregate(id: Int, name: String, fold: Fold, emission: Emission, gap: Long, grace: Long)
    extends WindowAggregate(id, name, fold, emission) {
  override protected def startOf(i: Item): Long = i.number
  override protected def endOf(i: Item): Long = i.time
  override protected def itemOf(g: Group, start: Long, end: Long): Item = rows.item(g, end, start)

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (isSkipped(key, value)) skip(key, value, ts)
    else {
      clock.advance(ts)
      val closed = closeTime
      add(key, value, ts, closed)
      emitClosed(closed)
    }

  override protected def closeTime: Long = clock.time - grace - gap

  private def add(key: UnsafeRow, value: UnsafeRow, ts: Long, closed: Long): Unit = {
    val g = rows.group(key)
    val touched = touching(g, ts)
    var from = ts
    var to = ts
    var aggregate = start
    touched.forEach { i =>
      // The merged row is reused by the next call.
      val m = merged(key, aggregate, rows.value(i), ts)
      aggregate = if (m == null) null else m.copy()
      from = math.min(from, i.number)
      to = math.max(to, i.time)
    }
    if (to < closed) leaveOut(Dropped.Late, key, value, ts, from, to)
    else {
      // Results of sessions have no headers while they are updated.
      val isBare = !emission.onClose && !isDry
      val headers = if (isBare) task.keepHeaders() else null
      if (isBare) task.noHeaders()
      if (from != ts || to != ts) touched.forEach(i => update(i, key, null, rows.value(i), i.time))
      val after = folded(key, value, aggregate, ts)
      val known = rows.item(g, to, from)
      update(if (known == null) rows.add(g, to, from) else known, key, after, null, to)
      if (isBare) task.headers(headers)
    }
  }

  /** The sessions that the record falls into or touches, by end, then by start. */
  private def touching(g: Group, ts: Long): ArrayList[Item] = {
    val found = new ArrayList[Item](2)
    var i = g.from(math.max(ts - gap, rows.oldest))
    while (i < g.size) {
      if (g(i).value != null && g(i).number <= ts + gap) found.add(g(i))
      i += 1
    }
    found
  }

  override protected def closedFrom(sentTo: Long): Long = math.max(0L, sentTo)
  override protected def closedTo(closeTime: Long): Long = closeTime - 1
}
