package brookmere.kernel.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * The wall clock as rows, a part of the input, so that a repeated batch sees the same time.
 *
 * A task gets two rows per batch and stage. The first comes before all records and carries the time. The last one comes
 * after them and is the tick: records that have been waiting, for example while the application was stopped, are
 * processed before time is seen to have passed. `seq` is the stage, so that what a tick causes in one stage comes
 * before the tick of the next.
 */
object Ticks {
  /** Kinds of raw rows: the time for stage 0 only, for all stages, with a tick after the records. */
  val Tell = 0L
  val TellAll = 1L
  val Tick = 2L
  /** Like Tick, in a batch that leaves records waiting: no task counts as idle. */
  val TickBusy = 3L

  val FirstSource: Int = -1
  val LastSource: Int = Int.MaxValue
  private val Busy = 1L

  /** The topic in failures of records that a tick has caused; no topic can have this name. */
  val Name = "(wall clock)"
  def topicOf(source: Int, topics: Array[String]): String =
    if (source == LastSource) Name else topics(SourceNumber.topic(source))
  def partitionOf(source: Int): Int = if (source == LastSource) 0 else SourceNumber.partition(source)

  def isTick(row: UnsafeRow): Boolean = row.getInt(Layout.Source) == LastSource
  def isBusy(row: UnsafeRow): Boolean = row.getLong(Layout.Step) == Busy

  /** Adds the row before the records of a batch. */
  def tell(out: RowBuffer, slot: Int, stage: Int, wall: Long): Unit =
    add(out, slot, Long.MinValue, FirstSource, stage, 0L, wall)

  /** Adds the row after the records of a batch. */
  def tick(out: RowBuffer, slot: Int, stage: Int, wall: Long, busy: Boolean): Unit =
    add(out, slot, Long.MaxValue, LastSource, stage, if (busy) Busy else 0L, wall)

  private def add(out: RowBuffer, slot: Int, clock: Long, source: Int, stage: Int, step: Long, wall: Long): Unit = {
    out.begin(slot, clock, source, stage, StepNumber.FirstDue, step, Layout.TickNode, wall, 0)
    var i = Layout.Key
    while (i <= Layout.Headers) { out.nullField(i); i += 1 }
  }
}
