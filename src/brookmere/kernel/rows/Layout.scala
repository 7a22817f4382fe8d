package brookmere.kernel.rows

import org.apache.spark.sql.types._

/** The one row layout between stages: columns and their positions. */
object Layout {
  val Task = 0
  val Clock = 1
  val Source = 2
  val Seq = 3
  val Step = 4
  val Node = 5
  val Ts = 6
  val Key = 7
  val Value = 8
  val Headers = 9
  val Fields = 10

  val schema: StructType = new StructType()
    .add("task", IntegerType, nullable = false)
    .add("clock", LongType, nullable = false)
    .add("source", IntegerType, nullable = false)
    .add("seq", LongType, nullable = false)
    .add("step", LongType, nullable = false)
    .add("node", IntegerType, nullable = false)
    .add("ts", LongType, nullable = false)
    .add("key", BinaryType)
    .add("value", BinaryType)
    .add("headers", BinaryType)

  /** Node number of a row that reports a failed record. */
  val ErrorNode: Int = -1

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
  /** Null where the order is by time; the test driver gives the number of the input here. */
  val Clock = 7

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
 * `step` orders the consequences of one root record: those of an earlier stage first, then by
 * the task that produced them, then in the order of production.
 */
object StepNumber {
  private val StageShift = 56
  private val TaskShift = 36
  def first(stage: Int, task: Int): Long = (stage.toLong << StageShift) | (task.toLong << TaskShift)
}
