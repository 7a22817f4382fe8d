package brookmere.kernel.ops.joins

import brookmere.kernel.core._
import brookmere.kernel.expr.Bound
import brookmere.kernel.state.{Clock, GroupStore}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Joins a stream with itself using one store: gives the results of a join with two, in the same order. */
final class StreamSelfJoin(id: Int, name: String, store: String, span: JoinSpan, joiner: Bound, valueFields: Int)
    extends Processor(id, name) {
  private val retention = span.before + span.after + span.grace
  @transient private var join: Joiner = _
  @transient private var kept: GroupStore = _
  @transient private var clock: Clock = _
  @transient private var found: UnsafeRow = _
  override def open(): Unit = { join = new Joiner(joiner); found = new UnsafeRow(valueFields) }

  override def attach(task: Task): Unit = {
    super.attach(task)
    kept = task.groups(store)
    clock = task.clock(Clock.ofNode(name), Clock.NoTime)
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (key == null || value == null) drop(if (key == null) Dropped.NullKey else Dropped.NullValue, key, value, ts)
    else {
      clock.advance(ts)
      var selfDone = ts <= clock.time - retention + 1
      def self(): Unit = { selfDone = true; forward(key, join(key, value, value, ts), null, ts) }
      each(key, ts - span.before, ts + span.after)(time =>
        forward(key, join(key, value, found, ts), null, math.max(ts, time)))
      each(key, ts - span.after, ts + span.before) { time =>
        if (ts < time && !selfDone) self()
        forward(key, join(key, found, value, ts), null, math.max(ts, time))
      }
      if (!selfDone) self()
    }

  private def each(key: UnsafeRow, from: Long, to: Long)(f: Long => Unit): Unit = {
    val g = kept.find(key)
    if (g != null) {
      var i = g.from(math.max(math.max(0L, from), kept.oldest))
      val end = math.max(0L, to)
      while (i < g.size && g(i).time <= end) {
        if (g(i).value != null) { found.pointTo(g(i).value, g(i).value.length); f(g(i).time) }
        i += 1
      }
    }
  }
}
