package brookmere.kernel.ops.foreignkey

import brookmere.kernel.expr.RowType
import brookmere.kernel.rows.RowWriter

import org.apache.spark.sql.catalyst.expressions.{UnsafeRow, XXH64}
import org.apache.spark.sql.types._

/** The messages between the two sides of a foreign-key join. */
object Subscription {
  /** Forget the left row. */
  val Unsubscribe = 0
  /** Forget the left row and answer without a right row. */
  val UnsubscribeAndAnswer = 1
  /** Answer in any case. */
  val Answer = 2
  /** Answer if there is a right row. */
  val AnswerIfFound = 3

  // ---- from the left side: the left key, the hash of its value, the instruction, the task of the left row ----

  val Key = 0
  val Hash = 1
  val Instruction = 3
  val From = 4
  def messageType(key: RowType): RowType =
    RowType(new StructType().add(named("key", key)).add("high", LongType).add("low", LongType)
    .add("instruction", IntegerType).add("task", IntegerType))
  def keyType(message: RowType): RowType = unnamed(message.schema(Key))

  // ---- what the right side keeps of it ----

  val KeptHash = 0
  val KeptFrom = 2
  val keptType: RowType = RowType(new StructType().add("high", LongType).add("low", LongType).add("task", IntegerType))

  // ---- from the right side: the right value, the hash of the left value, the task of the left row ----

  val Value = 0
  val AskedHash = 1
  val To = 3
  def answerType(value: RowType): RowType =
    RowType(new StructType().add(named("value", value)).add("high", LongType).add("low", LongType)
      .add("task", IntegerType))
  def valueType(answer: RowType): RowType = unnamed(answer.schema(Value))
  def isText(value: RowType): Boolean = value.dataType.isInstanceOf[StringType] || value.dataType == BinaryType

  /** A packed row as a field. The name distinguishes a struct from a single value in a row of one field. */
  private def named(name: String, t: RowType): StructField =
    StructField(if (t.isStruct) name + "_row" else name, t.schema)
  private def unnamed(f: StructField): RowType = {
    val packed = f.dataType.asInstanceOf[StructType]
    if (f.name.endsWith("_row")) RowType(packed) else RowType(packed.head.dataType)
  }
}

/** Compares values by their hash without keeping them; no value has no hash. */
final class ValueHash {
  var isNull = true
  var high = 0L
  var low = 0L

  def of(value: UnsafeRow): ValueHash = {
    isNull = value == null
    high =
      if (isNull) 0L
      else XXH64.hashUnsafeBytes(value.getBaseObject, value.getBaseOffset, value.getSizeInBytes, 42L)
    low = if (isNull) 0L else XXH64.hashUnsafeBytes(value.getBaseObject, value.getBaseOffset, value.getSizeInBytes, -7L)
    this
  }

  def read(row: UnsafeRow, at: Int): ValueHash = {
    isNull = row.isNullAt(at)
    high = if (isNull) 0L else row.getLong(at)
    low = if (isNull) 0L else row.getLong(at + 1)
    this
  }

  def write(row: RowWriter, at: Int): Unit =
    if (isNull) { row.setNull(at); row.setNull(at + 1) } else { row.put(at, high); row.put(at + 1, low) }

  def same(o: ValueHash): Boolean = isNull == o.isNull && high == o.high && low == o.low
}

/** Writes responses of the right side. As in Kafka Streams, a value serialised to zero bytes arrives as null. */
private[ops] final class AnswerWriter(isText: Boolean) {
  private val row = new RowWriter(4)
  def apply(value: UnsafeRow, hash: ValueHash, to: Int): UnsafeRow = {
    row.begin()
    val isEmpty = value != null && isText && value.getLong(0).toInt == 0
    row.row(Subscription.Value, if (isEmpty) null else value)
    hash.write(row, Subscription.AskedHash)
    row.put(Subscription.To, to & 0xffffffffL)
    row.result()
  }
}
