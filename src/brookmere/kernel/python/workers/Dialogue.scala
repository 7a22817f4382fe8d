package brookmere.kernel.python.workers

import java.io.{ByteArrayOutputStream, DataOutputStream}
import java.nio.ByteBuffer
import java.util.concurrent.ArrayBlockingQueue

/**
 * A port to a worker in the Python thread that calls the kernel: the work runs in a thread of its own, and the caller
 * takes and gives messages in turn. A message is a letter, a length and a payload.
 */
final class Dialogue extends Port {
  private val known = new Introductions
  private val sent = new ByteArrayOutputStream()
  private val out = new DataOutputStream(sent)
  private val toPython = new ArrayBlockingQueue[Dialogue.Step](1)
  private val fromPython = new ArrayBlockingQueue[Dialogue.Step](1)
  private var result: Dialogue.Done = null

  // The worker has the code of its stages already.
  override def introduce(stage: Int): Boolean = false
  override def isFresh(stage: Int, task: Int): Boolean = known.isFresh(stage, task)
  def forgetTasks(): Unit = known.forgetTasks()

  override def send(kind: Char, payload: Array[Byte], length: Int): Unit = {
    out.writeByte(kind)
    out.writeInt(length)
    out.write(payload, 0, length)
  }

  override def receive(): Message = {
    toPython.put(Dialogue.Frames(sent.toByteArray))
    sent.reset()
    fromPython.take() match {
      case Dialogue.Frames(bytes) =>
        val in = ByteBuffer.wrap(bytes)
        val kind = in.get().toChar
        val payload = new Array[Byte](in.getInt())
        in.get(payload)
        new Message(kind, payload)
      case _ => throw new WorkerLost("the worker was interrupted")
    }
  }

  /** Starts the work and returns the first messages for the worker; null if there are none. */
  def begin(work: () => Array[Byte]): Array[Byte] = {
    sent.reset()
    val thread = new Thread(() => toPython.put(
      try Dialogue.Done(work(), null) catch { case e: Throwable => Dialogue.Done(null, e) }), "brookmere-driver")
    thread.setDaemon(true)
    thread.start()
    next()
  }

  /** Passes on the worker's message and returns the next messages for it; null if the work is done. */
  def reply(message: Array[Byte]): Array[Byte] = {
    fromPython.put(Dialogue.Frames(message))
    next()
  }

  /** Ends the work, because the worker will not answer. */
  def abort(): Unit = {
    fromPython.put(Dialogue.Gone)
    next()
  }

  private def next(): Array[Byte] = toPython.take() match {
    case Dialogue.Frames(bytes) => bytes
    case done: Dialogue.Done =>
      result = done
      null
    case Dialogue.Gone => null
  }

  /** The result of the work; throws what it threw. */
  def finished(): Array[Byte] = {
    // The worker's state may be that of a batch that was not finished.
    if (result.failure != null) { forgetTasks(); throw result.failure }
    result.bytes
  }
}

object Dialogue {
  private sealed trait Step
  private final case class Frames(bytes: Array[Byte]) extends Step
  private final case class Done(bytes: Array[Byte], failure: Throwable) extends Step
  private case object Gone extends Step
}
