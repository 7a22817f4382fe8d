package brookmere.kernel.core

/** An exception of the user's Python code, as Python reports it. */
final class PythonError(val reason: String, message: String, val trace: String) extends RuntimeException(message) {
  override def fillInStackTrace(): Throwable = this
}
