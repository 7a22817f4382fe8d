package brookmere.kernel.program

import brookmere.kernel.expr.{Bound, Reader}

import org.apache.spark.sql.{functions, Column}
import org.apache.spark.sql.brookmere.{Bind, Refused}
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.types._

/** The time of a source's records: an expression, the wall clock, or their own; and what to do if it is invalid. */
final class SourceTime(val extract: Bound, val isWall: Boolean, val onInvalid: String) extends Serializable

object SourceTime {
  val Fail = "fail"
  val Skip = "skip"
  val PartitionTime = "partition-time"

  /** The expression of a column over key, value and timestamp; null for none. */
  private[program] def extractor(spark: SparkSession, key: Reader, value: Reader, time: Column): Bound =
    if (time == null) null
    else {
      val inputs = Seq(Bind.row("key", key.result), Bind.row("value", value.result), Bind.plain("timestamp", LongType))
      Bind(spark, inputs, millis(time, Bind.typeOf(spark, inputs, time)), Some(LongType))
    }

  /** Milliseconds since the epoch, from a number, a text with a number, or a timestamp; null for a text without one. */
  private def millis(time: Column, t: DataType): Column = t match {
    case TimestampType => functions.unix_millis(time)
    case LongType | IntegerType | ShortType | ByteType => time
    case _: NumericType | _: StringType | NullType => time.try_cast(LongType)
    case other => throw new Refused("time", other.sql)
  }
}
