package org.apache.spark.sql.brookmere

import brookmere.kernel.program.Inputs
import brookmere.kernel.rows.RawLayout

import org.apache.spark.sql.{Encoders, Row}
import org.apache.spark.sql.catalyst.CatalystTypeConverters
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.execution.streaming.runtime.MemoryStream

/** Topics in memory as one stream of raw rows, for tests: each call of `add` is a partition of its own. */
final class MemoryTopics(spark: SparkSession) {
  private val stream = MemoryStream[Row](Encoders.row(RawLayout.schema), spark)
  private val toRow = CatalystTypeConverters.createToScalaConverter(RawLayout.schema)

  def add(records: Array[Byte]): Unit = {
    stream.addData(Inputs.read(records).map(r => toRow(r).asInstanceOf[Row]).toSeq)
  }

  def frame: Dataset[Row] = stream.toDF().asInstanceOf[Dataset[Row]]
}
