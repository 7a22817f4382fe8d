package brookmere.kernel.python.workers

/** Exchanges messages with one Python worker. A message is a letter and a payload that Python's marshal reads. */
trait Port {
  /** True at the first call for a stage: its code has to be sent then. */
  def introduce(stage: Int): Boolean

  /** True at the first call for a task, and again when the worker's state of the task is outdated. */
  def isFresh(stage: Int, task: Int): Boolean

  /** Sends the first `length` bytes of `payload`, which may be reused afterwards. */
  def send(kind: Char, payload: Array[Byte], length: Int): Unit

  /** Waits for the next message of the worker. Throws WorkerLost. */
  def receive(): Message
}

/** A message from a worker. */
final class Message(val kind: Char, val payload: Array[Byte])

/** A worker that no longer answers. No record is at fault: the task is retried with another worker. */
final class WorkerLost(message: String, cause: Throwable = null) extends RuntimeException(message, cause)

/** A worker that cannot continue; the message says why. */
final class WorkerFailed(message: String) extends RuntimeException(message)

/** Which stages and tasks the other end of a port knows. */
private[python] final class Introductions {
  private val stages = new java.util.HashSet[Integer]()
  private val tasks = new java.util.HashSet[(Int, Int)]()
  def introduce(stage: Int): Boolean = stages.add(stage)
  def isFresh(stage: Int, task: Int): Boolean = tasks.add((stage, task))
  /** Makes all tasks unknown again; the code stays. */
  def forgetTasks(): Unit = tasks.clear()
}
