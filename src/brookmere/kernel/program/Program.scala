package brookmere.kernel.program

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection, Reader}
import brookmere.kernel.python.stage.PythonPart
import brookmere.kernel.python.workers.WorkerEnv
import brookmere.kernel.rows._
import brookmere.kernel.state.StoreDef

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Reads the records of a topic: the entrance of stage 0. `handler` is its own, or null for the program's. */
final class SourceReader(
    id: Int,
    name: String,
    keys: Reader,
    values: Reader,
    val time: SourceTime,
    isGlobal: Boolean,
    handler: String)
    extends Evaluating(id, name) {
  @transient private var extract: Projection = _
  override def open(): Unit = {
    super.open()
    keys.open()
    values.open()
    if (time.extract != null) extract = time.extract.compile()
  }
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    throw new UnsupportedOperationException("a source reads raw rows")

  @transient private var key: UnsafeRow = _
  @transient private var value: UnsafeRow = _
  private def field(raw: UnsafeRow, i: Int, reader: Reader): UnsafeRow =
    if (raw.isNullAt(i)) null
    else {
      val at = raw.getLong(i)
      reader.read(raw.getBaseObject, raw.getBaseOffset + (at >>> 32).toInt, at.toInt)
    }

  /**
   * Decodes the record and returns its time; a failure is reported and returns `Unreadable`.
   * `wall` is the wall clock of the batch, `partitionTime` the highest time of the source partition so far.
   */
  def read(raw: UnsafeRow, wall: Long, partitionTime: Long): Long =
    try {
      received += 1
      key = field(raw, RawLayout.Key, keys)
      value = field(raw, RawLayout.Value, values)
      val own = raw.getLong(RawLayout.Ts)
      if (time.isWall) wall
      else {
        val t = if (extract == null) null else extract(record.set(key, value, own))
        val found = if (extract == null) own else if (t == null || t.isNullAt(0)) SourceReader.NoTime else t.getLong(0)
        if (found >= 0) found else invalid(found, own, partitionTime)
      }
    } catch {
      case Guarded(e) =>
        failures += 1
        task.failed(RecordFailed.Deserialization, name, e, raw.getLong(RawLayout.Ts), handler)
        SourceReader.Unreadable
    }

  private def invalid(found: Long, own: Long, partitionTime: Long): Long = time.onInvalid match {
    case SourceTime.Skip => SourceReader.NoTime
    case SourceTime.PartitionTime if partitionTime >= 0 => partitionTime
    case SourceTime.PartitionTime if own >= 0 => own
    case _ =>
      failures += 1
      val what = if (found == SourceReader.NoTime) "null" else found.toString
      task.failed(RecordFailed.Timestamp, name, new InvalidTimestamp(s"the timestamp is $what"), own, SourceTime.Fail)
      SourceReader.NoTime
  }

  def emit(ts: Long): Unit = if (ts < 0) drop() else forward(key, value, null, ts)

  def broadcast: Boolean = isGlobal
}

object SourceReader {
  val Unreadable: Long = Long.MinValue
  val NoTime: Long = Long.MinValue + 1
}

/**
 * One stage: its processors (parents before children), where rows enter, and its stores. `python` is null
 * if the processors run in the kernel. With `exchange`, rows are sent to their tasks before it, and a chain begins.
 */
final class Stage(
    val number: Int,
    val processors: Array[Processor],
    val entries: Array[Entrance],
    val stores: Array[StoreDef],
    val sources: Array[SourceReader],
    val exchange: Boolean,
    val python: PythonPart = null) extends Serializable {
  def needsTicks: Boolean = processors.exists(_.needsTicks) || (python != null && python.needsTicks)
}

/** Where rows of the layout enter a stage: the node, the widths of its rows. */
final class Entrance(
    val node: Int,
    val target: Processor,
    val keyFields: Int,
    val valueFields: Int,
    val isTable: Boolean)
    extends Serializable

/** A compiled topology: what Python built, ready to be shipped. */
final class Program(
    val stages: Array[Stage],
    val settings: Settings,
    val slots: Array[Int],
    val nodeCount: Int) extends Serializable {
  /** How workers for the Python stages are started; a query sets it. */
  var workers: WorkerEnv = null
  def stageCount: Int = stages.length - 1
  /** The stages that run inside one operator of Spark, chain by chain; the first chain has no state. */
  val chains: Array[Array[Stage]] = {
    val starts = 0 +: stages.indices.filter(stages(_).exchange)
    starts.zip(starts.tail :+ stages.length).map { case (from, until) => stages.slice(from, until) }.toArray
  }
  /** The number of the chain of a stage. */
  def chainOf(stage: Int): Int = chains.indexWhere(_.exists(_.number == stage))
  /** True if the wall clock starts batches, too. */
  def needsTicks: Boolean = stages.exists(_.needsTicks)
  /** True if batches carry the wall clock. */
  def needsWall: Boolean = needsTicks || stages(0).sources.exists(s => s != null && s.time.isWall)
}
