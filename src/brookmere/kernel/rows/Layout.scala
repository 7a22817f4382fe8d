package brookmere.kernel.rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types._

/** The one row layout between stages: columns and their positions. */
object Layout {
  val Task = 0
  val Clock = 1
  val Source = 2
  val Seq = 3
  val Due = 4
  val Step = 5
  val Node = 6
  val Ts = 7
  val Key = 8
  val Value = 9
  val Headers = 10
  val Fields = 11

  val schema: StructType = new StructType()
    .add("task", IntegerType, nullable = false)
    .add("clock", LongType, nullable = false)
    .add("source", IntegerType, nullable = false)
    .add("seq", LongType, nullable = false)
    .add("due", LongType, nullable = false)
    .add("step", LongType, nullable = false)
    .add("node", IntegerType, nullable = false)
    .add("ts", LongType, nullable = false)
    .add("key", BinaryType)
    .add("value", BinaryType)
    .add("headers", BinaryType)

  /** Node number of a row that reports a failed record. */
  val ErrorNode: Int = -1
  /** Node number of a row that carries the wall clock. */
  val TickNode: Int = -3
  /** Node number of a row that advances the stream time of a stage, before the record that it belongs to. */
  def timeNode(stage: Int): Int = FirstTimeNode - stage
  /** Node number of a row that does the same after all consequences of the record, and calls what is due. */
  def dueNode(stage: Int): Int = FirstTimeNode - StepNumber.MaxStages - stage
  private val FirstTimeNode = -100

  /** The order of arrival. */
  val order: java.util.Comparator[UnsafeRow] = (a, b) => {
    var c = java.lang.Long.compare(a.getLong(Clock), b.getLong(Clock))
    if (c == 0) c = Integer.compare(a.getInt(Source), b.getInt(Source))
    if (c == 0) c = java.lang.Long.compare(a.getLong(Seq), b.getLong(Seq))
    if (c == 0) c = java.lang.Long.compare(a.getLong(Due), b.getLong(Due))
    if (c == 0) c = java.lang.Long.compare(a.getLong(Step), b.getLong(Step))
    c
  }

  /** `headers` is a packed row with one field of this type: the shape of Spark's Kafka source. */
  val headerType: ArrayType =
    ArrayType(new StructType().add("key", StringType).add("value", BinaryType))
  val headersSchema: StructType = new StructType().add("headers", headerType)
}

/** What stage 0 reads: one row per record of a topic. */
object RawLayout {
  val Topic = 0
  val Partition = 1
  val Offset = 2
  val Ts = 3
  val Key = 4
  val Value = 5
  val Headers = 6
  /** Null if the order is by time; the test driver gives the number of the input here. */
  val Clock = 7
  /** The topic number of a row that carries the wall clock in its `ts`; its `offset` is a kind of Ticks. */
  val TickTopic: Int = -1

  val schema: StructType = new StructType()
    .add("topic", IntegerType, nullable = false)
    .add("partition", IntegerType, nullable = false)
    .add("offset", LongType, nullable = false)
    .add("ts", LongType, nullable = false)
    .add("key", BinaryType)
    .add("value", BinaryType)
    .add("headers", Layout.headerType)
    .add("clock", LongType)
}

/** `source` numbers a partition of a topic: the topic's number and the partition in one int. */
object SourceNumber {
  private val PartitionBits = 18
  val MaxPartitions: Int = 1 << PartitionBits
  val MaxTopics: Int = 1 << (31 - PartitionBits)
  def of(topic: Int, partition: Int): Int = (topic << PartitionBits) | partition
  def topic(source: Int): Int = source >>> PartitionBits
  def partition(source: Int): Int = source & (MaxPartitions - 1)
}

/**
 * `due` and `step` order the consequences of one root record as if it passed through the whole topology alone, with a
 * queue per repartition: what needs no repartition comes first; then the record that has waited in the queue with the
 * earliest time (`due`, which never decreases within a queue); then by `step`: repartitions passed, position among the
 * outputs of stage 0, order of production, and last, so that the order is total, stage and task.
 */
object StepNumber {
  val FirstDue: Long = Long.MinValue
  private val TaskBits = 13
  private val StageBits = 4
  private val CountBits = 22
  private val PositionBits = 20
  private val CountShift = TaskBits + StageBits
  private val PositionShift = CountShift + CountBits
  private val HopShift = PositionShift + PositionBits
  val MaxTasks: Int = 1 << TaskBits
  val MaxStages: Int = 1 << StageBits
  val MaxPosition: Long = (1L << PositionBits) - 1
  val MaxCount: Long = (1L << CountBits) - 1

  def of(hop: Int, position: Long, count: Long, stage: Int, task: Int): Long =
    (hop.toLong << HopShift) | (position << PositionShift) | (count << CountShift) | (stage.toLong << TaskBits) | task

  def hop(step: Long): Int = (step >>> HopShift).toInt
  def position(step: Long): Long = (step >>> PositionShift) & MaxPosition
}
