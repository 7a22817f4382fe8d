package brookmere.kernel.topics

/** The unread records of a partition: their offsets, and the highest time up to each. */
final class Waiting(val offsets: Array[Long], val clocks: Array[Long], val end: Long) {
  def size: Int = clocks.length

  /** How many come before `clock`; with `andAt` also those at it. Clocks never go back. */
  def before(clock: Long, andAt: Boolean): Int = {
    var low = 0
    var high = size
    while (low < high) {
      val middle = (low + high) >>> 1
      if (clocks(middle) < clock || (andAt && clocks(middle) == clock)) low = middle + 1 else high = middle
    }
    low
  }

  /** Where the partition continues when this many are taken. */
  def next(taken: Int): Long = if (taken == size) end else offsets(taken)
}

object Waiting {
  /** Reads at most `most` records from `start` on. */
  def of(log: TopicLog, partition: Int, start: Long, end: Long, most: Int): Waiting = {
    val offsets = new Array[Long](most)
    val clocks = new Array[Long](most)
    var n = 0
    var clock = Long.MinValue
    val slices = log.slices(partition, start, end)
    while (n < most && slices.hasNext) {
      val s = slices.next()
      var i = s.from
      while (i < s.to && n < most) {
        clock = math.max(clock, s.batch.timestamp(i))
        offsets(n) = s.base + s.batch.delta(i)
        clocks(n) = clock
        n += 1
        i += 1
      }
    }
    // If reading ended early, the next record comes right after the last one seen.
    val rest = if (n == most && n > 0) offsets(n - 1) + 1 else end
    new Waiting(java.util.Arrays.copyOf(offsets, n), java.util.Arrays.copyOf(clocks, n), rest)
  }
}

/**
 * Takes the first records in the order in which all partitions together are read: by clock, then by partition, then by
 * offset. Whatever the limit, consecutive batches give the same order.
 */
object Cut {
  def take(waiting: Array[Waiting], limit: Int): Array[Int] = {
    val clock = lastClock(waiting, limit)
    val taken = waiting.map(_.before(clock, andAt = false))
    var left = limit - taken.sum
    waiting.indices.foreach { p =>
      val more = math.min(left, waiting(p).before(clock, andAt = true) - taken(p))
      taken(p) += more
      left -= more
    }
    taken
  }

  /** The highest clock before which at most `limit` records wait. */
  private def lastClock(waiting: Array[Waiting], limit: Int): Long = {
    val some = waiting.filter(_.size > 0)
    if (some.isEmpty) return Long.MinValue
    var low = some.map(_.clocks.head).min
    var high = some.map(w => w.clocks(w.size - 1)).max
    while (low < high) {
      // Halfway, rounded up, without overflow.
      val middle = low + ((high - low) >>> 1) + ((high - low) & 1)
      if (some.iterator.map(_.before(middle, andAt = false).toLong).sum <= limit) low = middle else high = middle - 1
    }
    low
  }
}
