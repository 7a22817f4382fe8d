package brookmere.kernel.core

/** A failed record: where and why. The handler "fail" throws it, "continue" sends it on. */
final class RecordFailed(
    val stage: String, // deserialization, processing or production
    val node: String,
    val task: Int,
    val topic: String,
    val partition: Int,
    val offset: Long,
    val timestamp: Long,
    val reason: String,
    val detail: String,
    val trace: String,
    val key: Array[Byte],
    val value: Array[Byte])
    extends RuntimeException(
      s"$stage of a record failed in $node (task $task, topic $topic, partition $partition, offset $offset): " +
      s"$reason: $detail") {
  override def fillInStackTrace(): Throwable = this
}

object RecordFailed {
  val Deserialization = "deserialization"
  val Processing = "processing"
  val Production = "production"
  val Timestamp = "timestamp"

  /** The innermost cause with a message: it says what went wrong. */
  def cause(e: Throwable): Throwable = {
    var c = e
    var found = e
    while (c.getCause != null && (c.getCause ne c)) {
      c = c.getCause
      if (c.getMessage != null && !silent(c.getMessage)) found = c
    }
    found
  }
  private def silent(message: String): Boolean = message.isEmpty || message == "requirement failed"

  def trace(e: Throwable): String = {
    val out = new java.io.StringWriter
    e.printStackTrace(new java.io.PrintWriter(out, true))
    out.toString
  }
}

/** Lets the handlers decide only on failures that a record has caused; everything else is thrown. */
object Guarded {
  def unapply(e: Throwable): Option[Throwable] = e match {
    case _: RecordFailed | _: Unavailable | _: brookmere.kernel.python.workers.WorkerLost => None
    case _: StackOverflowError => Some(e)
    case _: VirtualMachineError | _: ThreadDeath | _: InterruptedException | _: LinkageError => None
    case other => Some(other)
  }
}

/** Something that the application needs does not answer. No record is at fault, so the application stops. */
final class Unavailable(message: String) extends RuntimeException(message)

/** A record with an invalid time. */
final class InvalidTimestamp(message: String) extends RuntimeException(message) {
  override def fillInStackTrace(): Throwable = this
}

/** A value that its serde cannot read or write. */
final class BadBytes(message: String) extends RuntimeException(message) {
  override def fillInStackTrace(): Throwable = this
}
