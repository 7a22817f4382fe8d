package brookmere.kernel.python.stage

/** What makes a stage a Python stage: the code for its worker, and whether it depends on the wall clock. */
final class PythonPart(val code: Array[Byte], val needsTicks: Boolean) extends Serializable
