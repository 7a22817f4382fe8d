package brookmere.kernel.core

import brookmere.kernel.state.Store

/** What every stage of a program knows: topics, task slots, how failures are handled. */
final class Settings(
    val topics: Array[String],
    val continueOn: Set[String],
    val lastPerBatch: Boolean,
    val limits: Store.Limits) extends Serializable

object Settings {
  /** The handler that skips a failed record; the other one is "fail". */
  val Continue = "continue"
}
