package brookmere.kernel.python.workers

import java.io._
import java.util.concurrent.TimeUnit

/** A worker process and the pipes to it. */
final class Worker(process: Process, val run: String) extends Port {
  private val in = new DataInputStream(new BufferedInputStream(process.getInputStream, Worker.BufferBytes))
  private val out = new DataOutputStream(new BufferedOutputStream(process.getOutputStream, Worker.BufferBytes))
  private val known = new Introductions
  /** The version of the state that the worker's own state matches. */
  private[python] var version = Workers.NoVersion
  private[python] var since = 0L

  def pid: Long = process.pid
  def isAlive: Boolean = process.isAlive
  override def introduce(stage: Int): Boolean = known.introduce(stage)
  override def isFresh(stage: Int, task: Int): Boolean = known.isFresh(stage, task)
  private[python] def forgetTasks(): Unit = known.forgetTasks()

  override def send(kind: Char, payload: Array[Byte], length: Int): Unit = guarded {
    out.writeByte(kind)
    out.writeInt(length)
    out.write(payload, 0, length)
  }

  override def receive(): Message = guarded {
    out.flush()
    val kind = in.readByte().toChar
    val payload = new Array[Byte](in.readInt())
    in.readFully(payload)
    new Message(kind, payload)
  }

  private def guarded[T](talk: => T): T =
    try talk
    catch { case e: IOException => throw new WorkerLost(ended(), e) }

  private def ended(): String = {
    val is =
      if (process.waitFor(Worker.PatienceMs, TimeUnit.MILLISECONDS)) Worker.words(process.exitValue)
      else "does not answer"
    s"The Python worker (process $pid) $is. Look at the log for what it said last: " +
      "often memory ran out, a library crashed, or the program's own code ended the process."
  }

  /** Asks the process to end in good order, so that it can close what the program has open. */
  private[python] def askToEnd(): Unit =
    try { out.writeByte('Q'); out.writeInt(0); out.close() } catch { case _: IOException => }

  /** Waits for the process to end, and kills it if that takes too long. */
  private[python] def end(): Unit = {
    process.waitFor(Worker.EndMs, TimeUnit.MILLISECONDS)
    destroy()
  }

  /** Kills the process. */
  def destroy(): Unit = {
    process.destroyForcibly()
    close(out)
    close(in)
  }

  private def close(what: Closeable): Unit = try what.close() catch { case _: IOException => }
}

object Worker {
  private val BufferBytes = 1 << 16
  private val PatienceMs = 2000L
  private val EndMs = 5000L
  /** The exit code of a process killed by a signal is this number plus the signal's. */
  private val Signalled = 128

  private def words(code: Int): String =
    if (code > Signalled && code < Signalled + 65) s"was ended by signal ${code - Signalled}"
    else s"ended with exit code $code"
}
