package brookmere.kernel.kafka

/**
 * Searches for a time before which about `most` records wait, with few requests to the brokers. `at` returns the
 * positions at a time; `begin` and `end` are the positions before the first and after the last record.
 */
final class TimeSearch(most: Long, begin: Array[Long], end: Array[Long], at: Long => Array[Long]) {
  private var low = -1L
  private var lowAt = begin
  private var high = 0L
  private var highAt = end

  private def taken(next: Array[Long]): Long = next.indices.iterator.map(i => next(i) - begin(i)).sum

  private def ask(time: Long): Boolean = {
    val found = at(time)
    val fits = taken(found) <= most
    if (fits) { low = time; lowAt = found } else { high = time; highAt = found }
    fits
  }

  /**
   * Returns the time and the positions. No record is newer than `newest`; hardly any record waits before `known`,
   * unless that is negative.
   */
  def find(newest: Long, known: Long): (Long, Array[Long]) = {
    high = newest + 1
    if (known < 0 || known > newest || !ask(known)) gallop(newest)
    var asked = 0
    while (high - low > 1 && taken(lowAt) < most / 2) {
      ask(between(asked))
      asked += 1
    }
    if (taken(lowAt) >= most / 2) (low, lowAt) else (low, filled(most - taken(lowAt)))
  }

  /** Steps back from the newest record, further each time. */
  private def gallop(newest: Long): Unit = {
    var back = 1000L
    while (back <= newest && !ask(newest - back)) back *= 8
  }

  /**
   * A time in between, assuming that records are spread evenly; every third time the midpoint, in case they are not.
   */
  private def between(asked: Int): Long = {
    val span = (high - low).toDouble
    val (below, above) = (taken(lowAt), taken(highAt))
    val by = if (asked % 3 != 2 && above > below) span * (most * 3 / 4 - below) / (above - below) else span / 2
    math.min(high - 1, math.max(low + 1, low + by.toLong))
  }

  /** All records in between have the same time, so the first partitions come first. */
  private def filled(more: Long): Array[Long] = {
    var left = more
    lowAt.indices.map { i =>
      val n = math.min(left, highAt(i) - lowAt(i))
      left -= n
      lowAt(i) + n
    }.toArray
  }
}
