package brookmere.kernel.python.workers

import java.io.File
import java.util.{List => JList}

import scala.jdk.CollectionConverters._

import org.apache.spark.{SparkEnv, SparkFiles}

/**
 * How a worker is started. `python` is the interpreter of a local program; elsewhere it is empty, and
 * `spark.pyspark.python` or the environment of the task names one. `start` is the code that it runs, `path` are
 * directories of modules, `archives` the names of files that Spark has copied to the machine of the task.
 */
final class WorkerEnv(python: String, start: String, path: Array[String], archives: Array[String])
    extends Serializable {
  def this(python: String, start: String, path: JList[String], archives: JList[String]) =
    this(python, start, path.asScala.toArray, archives.asScala.toArray)

  /** True if tasks run in the JVM of the program itself, which knows when a query has stopped. */
  def isLocal: Boolean = python.nonEmpty

  private def interpreter: String =
    if (isLocal) python
    else Option(SparkEnv.get).flatMap(_.conf.getOption("spark.pyspark.python"))
      .orElse(sys.env.get("PYSPARK_PYTHON")).getOrElse("python3")

  def begin(): Process = {
    val builder = new ProcessBuilder(interpreter, "-c", start)
    val places = archives.map(SparkFiles.get) ++ path ++ sys.env.get("PYTHONPATH").toSeq
    if (places.nonEmpty) builder.environment.put("PYTHONPATH", places.mkString(File.pathSeparator))
    // Python does not search the working directory of the JVM for modules unless the path names it.
    builder.environment.put("PYTHONSAFEPATH", "1")
    // Each worker is one of many: libraries with threads of their own would use all cores for each.
    builder.environment.putIfAbsent("OMP_NUM_THREADS", "1")
    // What the program prints, and why Python ended, goes to the log of the JVM.
    builder.redirectError(ProcessBuilder.Redirect.INHERIT)
    try builder.start()
    catch {
      case e: java.io.IOException => throw new WorkerLost(
        s"Python code of the program runs in a process of its own, which cannot be started: ${e.getMessage}. " +
          "Set spark.pyspark.python to an existing Python interpreter", e)
    }
  }
}
