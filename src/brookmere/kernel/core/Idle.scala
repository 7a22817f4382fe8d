package brookmere.kernel.core

/**
 * A processor whose stream time advances with the wall clock once its task has had no record for `closeIdle`
 * milliseconds. Stream time is then that of the last record plus the time that has passed since.
 */
trait Idle extends Processor {
  /** Negative: never. */
  var closeIdle: Long = -1L

  /** Stream time of the operator on the current task; negative before its first record. */
  protected def idleTime: Long

  /** Advances stream time to `streamTime`, and emits what is complete by then. */
  protected def advance(streamTime: Long): Unit

  override def needsTicks: Boolean = closeIdle >= 0

  override def tick(wall: Long): Unit = if (closeIdle >= 0 && idleTime >= 0) {
    val passed = task.idleFor(wall, closeIdle)
    if (passed > 0) advance(idleTime + passed)
  }
}
