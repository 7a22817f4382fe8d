package brookmere.kernel.python.workers

/** Messages to and from one Python worker. A message is a letter and a payload that Python's marshal reads. */
trait Port {
  /** True the first time that a stage is named: then its code has to be sent. */
  def introduce(stage: Int): Boolean

  /** True the first time that a task is named, and again when what the worker knows of it does not hold any more. */
  def isFresh(stage: Int, task: Int): Boolean

  /** Sends the first `length` bytes of `payload`, which may be used again afterwards. */
  def send(kind: Char, payload: Array[Byte], length: Int): Unit

  /** Waits for the next message of the worker. Throws WorkerLost. */
  def receive(): Message
}

/** What a worker says. */
final class Message(val kind: Char, val payload: Array[Byte])

/** A worker that does not answer any more. No record is to blame: the task is repeated with another worker. */
final class WorkerLost(message: String, cause: Throwable = null) extends RuntimeException(message, cause)

/** A worker that cannot go on, and says why. */
final class WorkerFailed(message: String) extends RuntimeException(message)

/** Which stages and tasks the other end of a port knows. */
private[python] final class Introductions {
  private val stages = new java.util.HashSet[Integer]()
  private val tasks = new java.util.HashSet[(Int, Int)]()
  def introduce(stage: Int): Boolean = stages.add(stage)
  def isFresh(stage: Int, task: Int): Boolean = tasks.add((stage, task))
  /** Lets all tasks begin anew; the code stays. */
  def forgetTasks(): Unit = tasks.clear()
}
