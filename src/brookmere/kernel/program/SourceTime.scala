package brookmere.kernel.program

import brookmere.kernel.expr.{Bound, Reader}

import org.apache.spark.sql.{functions, Column}
import org.apache.spark.sql.brookmere.{Bind, Refused}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types._

/** The time of a source's records: an expression, the wall clock, or else their own; and what a wrong one means. */
final class SourceTime(val extract: Bound, val isWall: Boolean, val onInvalid: String) extends Serializable

object SourceTime {
  val Fail = "fail"
  val Skip = "skip"
  val PartitionTime = "partition-time"

  /** The time that a column over key, value and timestamp gives; without a column it is the record's own. */
  def of(spark: SparkSession, key: Reader, value: Reader, time: Column, isWall: Boolean, onInvalid: String): SourceTime = {
    val inputs = Seq(Bind.row("key", key.result), Bind.row("value", value.result), Bind.plain("timestamp", LongType))
    val extract = if (time == null) null else Bind(spark, inputs, millis(time, Bind.typeOf(spark, inputs, time)), Some(LongType))
    new SourceTime(extract, isWall, onInvalid)
  }

  /** Milliseconds since the epoch, from a number, a text with a number, or a timestamp; null where it is none of them. */
  private def millis(time: Column, t: DataType): Column = t match {
    case TimestampType => functions.unix_millis(time)
    case LongType | IntegerType | ShortType | ByteType => time
    case _: NumericType | _: StringType | NullType => time.try_cast(LongType)
    case other => throw new Refused("time", other.sql)
  }
}
