package brookmere.kernel.core

import org.apache.spark.util.AccumulatorV2

/** Per-node counters: received, forwarded, dropped, failed. Summed over tasks by Spark. */
final class Counters(val nodes: Int) extends AccumulatorV2[Array[Long], Array[Long]] {
  private val sums = new Array[Long](nodes * Counters.Kinds)
  override def isZero: Boolean = sums.forall(_ == 0)
  override def copy(): Counters = { val c = new Counters(nodes); c.add(sums); c }
  override def reset(): Unit = java.util.Arrays.fill(sums, 0L)
  override def add(v: Array[Long]): Unit = { var i = 0; while (i < sums.length) { sums(i) += v(i); i += 1 } }
  override def merge(other: AccumulatorV2[Array[Long], Array[Long]]): Unit = add(other.value)
  override def value: Array[Long] = sums
}

object Counters {
  val Kinds = 4
  val Received = 0
  val Forwarded = 1
  val Dropped = 2
  val Failed = 3
}

/** Where a stage spends its time, in nanoseconds: reading rows, processing them, writing state. */
final class StageTimes extends AccumulatorV2[Array[Long], Array[Long]] {
  private val sums = new Array[Long](StageTimes.Kinds)
  override def isZero: Boolean = sums.forall(_ == 0)
  override def copy(): StageTimes = { val c = new StageTimes; c.add(sums); c }
  override def reset(): Unit = java.util.Arrays.fill(sums, 0L)
  override def add(v: Array[Long]): Unit = { var i = 0; while (i < sums.length) { sums(i) += v(i); i += 1 } }
  override def merge(other: AccumulatorV2[Array[Long], Array[Long]]): Unit = add(other.value)
  override def value: Array[Long] = sums
}

object StageTimes {
  val Kinds = 3
  val Process = 0
  val Flush = 1
  val Rows = 2
}
