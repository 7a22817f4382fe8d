package brookmere.kernel.python

import java.io.File

import org.apache.spark.{SparkEnv, SparkFiles}

/**
 * How a worker is started. `python` is the interpreter of a local program; elsewhere it is empty, and `spark.pyspark.python`
 * or the environment where the task runs names one.
 * `path` are places of modules, `archives` the names of files that Spark has brought there.
 */
final class WorkerEnv(val python: String, val path: Array[String], val archives: Array[String]) extends Serializable {
  /** True if tasks run in the JVM of the program itself, which tells when a query has stopped. */
  def isLocal: Boolean = python.nonEmpty

  def command: Array[String] = Array(interpreter, "-u", "-m", "brookmere.worker")

  def interpreter: String =
    if (isLocal) python
    else Option(SparkEnv.get).flatMap(_.conf.getOption("spark.pyspark.python")).orElse(sys.env.get("PYSPARK_PYTHON")).getOrElse("python3")

  def start(): Process = {
    val builder = new ProcessBuilder(command: _*)
    val places = archives.map(SparkFiles.get) ++ path ++ sys.env.get("PYTHONPATH").toSeq
    if (places.nonEmpty) builder.environment.put("PYTHONPATH", places.mkString(File.pathSeparator))
    builder.environment.put("PYTHONSAFEPATH", "1")
    builder.redirectError(ProcessBuilder.Redirect.INHERIT)
    try builder.start()
    catch {
      case e: java.io.IOException => throw new WorkerLost(
        s"Python code of the program runs in a process of its own, which cannot be started: ${e.getMessage}. " +
          "Set spark.pyspark.python to a Python interpreter that has cloudpickle.", e)
    }
  }
}
