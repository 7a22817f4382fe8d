package brookmere.kernel.ops.joins

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, RowType}
import brookmere.kernel.rows.{KeyOrder, Rows}
import brookmere.kernel.state.{Clock, Group, GroupStore, Item}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Which times join: right records from `before` earlier to `after` later than the left one. */
final case class JoinSpan(before: Long, after: Long, grace: Long)

/**
 * One side of a stream-stream join: joins a record with those that the other side has kept. If a record without a match
 * has a result, it waits in a store that both sides share until its window has closed.
 */
final class StreamJoin(
    id: Int, name: String, isLeft: Boolean, isOuter: Boolean, other: String, unmatched: String, clockName: String,
    span: JoinSpan, joiner: Bound, key: RowType, valueFields: Int, otherFields: Int, dropLate: Boolean,
    waitForGrace: Boolean)
    extends Processor(id, name) with Idle {
  import StreamJoin._
  private val joinBefore = if (isLeft) span.before else span.after
  private val joinAfter = if (isLeft) span.after else span.before
  @transient private var join: Joiner = _
  @transient private var order: KeyOrder = _
  @transient private var kept: GroupStore = _
  @transient private var waiting: GroupStore = _
  @transient private var clock: Clock = _
  /** What Kafka Streams takes for the earliest waiting record; it decides when to look for closed windows. */
  @transient private var earliest: Clock = _
  @transient private var found: UnsafeRow = _
  @transient private var left: UnsafeRow = _
  @transient private var right: UnsafeRow = _

  override def open(): Unit = {
    join = new Joiner(joiner)
    order = new KeyOrder(key)
    found = new UnsafeRow(otherFields)
    left = new UnsafeRow(if (isLeft) valueFields else otherFields)
    right = new UnsafeRow(if (isLeft) otherFields else valueFields)
  }

  override def attach(task: Task): Unit = {
    super.attach(task)
    kept = task.groups(other)
    waiting = if (unmatched == null) null else task.groups(unmatched)
    clock = task.clock(Clock.ofNode(clockName), Clock.NoTime)
    earliest = task.clock(Clock.ofNode(clockName) + ":earliest", Long.MaxValue)
  }

  private def joined(key: UnsafeRow, own: UnsafeRow, others: UnsafeRow, ts: Long): UnsafeRow =
    if (isLeft) join(key, own, others, ts) else join(key, others, own, ts)

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    clock.advance(ts)
    if (value == null) drop(Dropped.NullValue, key, value, ts, clock.time)
    else if (key == null) {
      if (isOuter) forward(key, joined(key, value, null, ts), null, ts)
      else drop(Dropped.NullKey, key, value, ts, clock.time)
    }
    else if (dropLate && ts + joinAfter + span.grace < clock.time) drop(Dropped.Late, key, value, ts, clock.time)
    else {
      if (waiting != null && ts == clock.time) release()
      val matches = meet(key, value, ts)
      if (isOuter && !matches) alone(key, value, ts)
    }
  }

  override protected def idleTime: Long = clock.time
  override protected def advance(streamTime: Long): Unit = {
    clock.advance(streamTime)
    if (waiting != null) release()
  }

  /** Joins the record with all that the other side has kept for its time. */
  private def meet(key: UnsafeRow, value: UnsafeRow, ts: Long): Boolean = {
    val g = kept.find(key)
    val from = math.max(math.max(0L, ts - joinBefore), kept.oldest)
    val to = math.max(0L, ts + joinAfter)
    var any = false
    if (g != null) {
      val waitingHere = if (waiting == null) null else waiting.find(key)
      var i = g.from(from)
      while (i < g.size && g(i).time <= to) {
        val o = g(i)
        if (o.value != null) {
          any = true
          if (waitingHere != null) matched(waitingHere, o.time)
          found.pointTo(o.value, o.value.length)
          val time = math.max(ts, o.time)
          forward(key, joined(key, value, found, ts), null, time)
        }
        i += 1
      }
    }
    any
  }

  /** The other side's records of a time have found a match and wait no longer. */
  private def matched(g: Group, time: Long): Unit = {
    var i = g.from(time)
    while (i < g.size && g(i).time == time) {
      if (g(i).value != null && isLeftItem(g(i)) != isLeft) waiting.put(g(i), null, g(i).ts)
      i += 1
    }
  }

  private def alone(key: UnsafeRow, value: UnsafeRow, ts: Long): Unit = {
    val closed =
      if (waitForGrace) ts + joinAfter + span.grace < clock.time
      else math.max(0L, ts + joinAfter) < clock.time
    if (waiting == null || closed) forward(key, joined(key, value, null, ts), null, ts)
    else {
      if (ts < earliest.time) earliest.time = ts
      val g = waiting.group(key)
      var number = if (isLeft) LeftRank else 0L
      var i = g.from(ts)
      while (i < g.size && g(i).time == ts) {
        if (isLeftItem(g(i)) == isLeft) number = math.max(number, g(i).number + 1)
        i += 1
      }
      // The values of the two sides have different types, so they wait as bytes.
      val packed = Rows.single(value.getBaseObject, value.getBaseOffset, value.getSizeInBytes)
      waiting.put(waiting.add(g, ts, number), Rows.of(packed, 1), ts)
    }
  }

  private def isLeftItem(i: Item): Boolean = i.number >= LeftRank

  /** Sends the records whose windows have closed without a match, by time, the right side first, then by key. */
  private def release(): Unit =
    if (earliest.time != Long.MaxValue && (waitForGrace || earliest.time + joinAfter + span.grace < clock.time)) {
      earliest.time = Long.MaxValue
      val all = waiting.between(Long.MinValue, Long.MaxValue, order)
      var leftOpen = false
      var rightOpen = false
      var n = 0
      var done = false
      var first = Long.MaxValue
      while (!done && n < all.length) {
        val i = all(n)
        // With waitForGrace it is the first record that stays, in Kafka Streams the last one it looked at.
        if (!waitForGrace) earliest.time = i.time
        if (leftOpen && rightOpen) done = true
        else {
          val reach = if (isLeftItem(i)) span.after else span.before
          if (i.time + reach + span.grace >= clock.time) {
            if (isLeftItem(i)) leftOpen = true else rightOpen = true
            first = math.min(first, i.time)
          } else {
            val k = waiting.key(i.group)
            val v =
              if (isLeftItem(i)) join(k, Rows.slice(waiting.value(i), 0, left), null, i.time)
              else join(k, null, Rows.slice(waiting.value(i), 0, right), i.time)
            forward(k, v, null, i.time)
            waiting.put(i, null, i.ts)
          }
        }
        n += 1
      }
      if (waitForGrace) earliest.time = first
      waiting.forget(first)
    }
}

object StreamJoin {
  /** Left records come after right ones of the same time. */
  private val LeftRank = 1L << GroupStore.RankShift
}
