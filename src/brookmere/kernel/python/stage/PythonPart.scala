package brookmere.kernel.python.stage

/**
 * What makes a stage a Python stage: the code for its worker, and whether it depends on the wall clock.
 * `folds`: its nodes are aggregates of the kernel, and the code is their functions.
 */
final class PythonPart(val code: Array[Byte], val needsTicks: Boolean, val folds: Boolean) extends Serializable
