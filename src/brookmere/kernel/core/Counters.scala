package brookmere.kernel.core

import org.apache.spark.util.AccumulatorV2

/** Numbers that tasks count up, summed over all of them by Spark. */
final class Sums(size: Int) extends AccumulatorV2[Array[Long], Array[Long]] {
  private val sums = new Array[Long](size)
  override def isZero: Boolean = sums.forall(_ == 0)
  override def copy(): Sums = { val c = new Sums(size); c.add(sums); c }
  override def reset(): Unit = java.util.Arrays.fill(sums, 0L)
  override def add(v: Array[Long]): Unit = { var i = 0; while (i < size) { sums(i) += v(i); i += 1 } }
  override def merge(other: AccumulatorV2[Array[Long], Array[Long]]): Unit = add(other.value)
  override def value: Array[Long] = sums
}

/** The latest times that tasks have seen; Spark keeps the maximum. */
final class Latest(size: Int) extends AccumulatorV2[Array[Long], Array[Long]] {
  private val times = Array.fill(size)(Long.MinValue)
  override def isZero: Boolean = times.forall(_ == Long.MinValue)
  override def copy(): Latest = { val c = new Latest(size); c.add(times); c }
  override def reset(): Unit = java.util.Arrays.fill(times, Long.MinValue)
  override def add(v: Array[Long]): Unit = {
    var i = 0
    while (i < size) { times(i) = math.max(times(i), v(i)); i += 1 }
  }
  override def merge(other: AccumulatorV2[Array[Long], Array[Long]]): Unit = add(other.value)
  override def value: Array[Long] = times
}

/** What is counted per node, as consecutive numbers. */
object Counters {
  val Kinds = 5
  val Received = 0
  val Forwarded = 1
  val Dropped = 2
  val Failed = 3
  val Late = 4

  /** Adds the counts of processors to `sums` and resets them. */
  def collect(processors: Array[Processor], sums: Array[Long]): Unit = processors.foreach { p =>
    if (p.id >= 0 && p.id * Kinds < sums.length) {
      val at = p.id * Kinds
      sums(at + Received) += p.received
      sums(at + Forwarded) += p.forwarded
      sums(at + Dropped) += p.dropped
      sums(at + Failed) += p.failures
      sums(at + Late) += p.tooLate
    }
    p.received = 0
    p.forwarded = 0
    p.dropped = 0
    p.failures = 0
    p.tooLate = 0
  }
}

/** What is counted per stage: CPU nanoseconds of processing, CPU nanoseconds of writing state, rows. */
object StageTimes {
  val Kinds = 3
  private val threads = java.lang.management.ManagementFactory.getThreadMXBean
  /** CPU time of this thread: elapsed time means little on a busy machine. */
  def now: Long = if (threads.isCurrentThreadCpuTimeSupported) threads.getCurrentThreadCpuTime else System.nanoTime
}
