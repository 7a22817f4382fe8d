package org.apache.spark.sql.brookmere

import java.util.{List => JList}

import scala.jdk.CollectionConverters._

import brookmere.kernel.core.{Counters, StageTimes, Sums}
import brookmere.kernel.expr.RowType
import brookmere.kernel.program.{Outputs, Program}
import brookmere.kernel.rows.{Destinations, Layout}
import brookmere.kernel.state.LogStore

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.types._

/** Puts the stages of a program into a query. Python calls it. */
final class Assembly(spark: SparkSession, val program: Program, partitions: Int) {
  private val counters = new Sums(program.nodeCount * Counters.Kinds)
  private val times = Array.fill(program.stages.length)(new Sums(StageTimes.Kinds))
  spark.sparkContext.register(counters)
  times.foreach(t => spark.sparkContext.register(t))
  private val stats = new QueryStats(counters, times)

  /** Raw rows in, rows of the layout out, with every stage between. */
  def rows(raw: Dataset[Row]): Dataset[Row] = {
    var d = Internals.sources(spark, raw, program, stats)
    var n = 1
    while (n < program.stages.length) {
      d = Internals.stage(spark, d, new StageProcessor(program, n, stats), partitions)
      n += 1
    }
    d
  }

  /** Rows of the layout in, rows for a sink out. */
  def outputs(rows: Dataset[Row], topics: java.util.Map[Integer, String], routed: java.util.Set[Integer], taps: java.util.Set[Integer]): Dataset[Row] = {
    Internals.outputs(spark, rows, destinations(topics, routed, taps), program.slots)
  }

  /** Where the rows of the last stage go. */
  def destinations(topics: java.util.Map[Integer, String], routed: java.util.Set[Integer], taps: java.util.Set[Integer]): Destinations = {
    def ints(s: java.util.Set[Integer]): Set[Int] = s.asScala.map(_.intValue).toSet
    new Destinations(topics.asScala.map { case (n, t) => n.intValue -> t }.toMap, ints(routed), ints(taps))
  }

  def counts: Array[Long] = counters.value
  def stageTimes(n: Int): Array[Long] = times(n).value

  /** Brings the rows of a finished batch to the driver, in order of arrival. */
  def collect(rows: Dataset[Row], routed: java.util.Set[Integer]): Array[Byte] = {
    // Sorted here: Spark's sort would sample first, and so run the stages twice.
    val sorted = rows.queryExecution.toRdd.map(_.asInstanceOf[UnsafeRow].copy()).collect()
    java.util.Arrays.sort(sorted, Layout.order)
    val out = new Outputs(routed.asScala.map(_.intValue).toSet)
    sorted.foreach(r => out.add(r, program.slots.indexOf(r.getInt(Layout.Task))))
    out.result()
  }

  def forget(run: String): Unit = Caches.forget(run)
}

object Assembly {
  /** The entries of chunks of a log store, in order: what is left is pickled for Python. */
  def readLog(chunks: JList[Array[Byte]], keyJson: String, valueJson: String): LogRows = {
    val live = new java.util.LinkedHashMap[java.nio.ByteBuffer, (Array[Byte], Long)]()
    chunks.asScala.foreach(c => LogStore.read(c) { (k, v, ts) =>
      val key = java.nio.ByteBuffer.wrap(k)
      if (v == null) live.remove(key) else live.put(key, (v, ts))
    })
    new LogRows(live.asScala.toSeq.map { case (k, (v, ts)) => (k.array, v, ts) },
      RowType(DataType.fromJson(keyJson)), RowType(DataType.fromJson(valueJson)))
  }

  /** Name, kind, key type and value type of the stores of a program, stage by stage. */
  def stores(program: Program): JList[JList[String]] =
    program.stages.toSeq.flatMap(s => s.stores.toSeq.map(d => Seq(d.name, d.kind, d.key.dataType.json, d.value.dataType.json, s.number.toString).asJava)).asJava
}

final class LogRows(rows: Seq[(Array[Byte], Array[Byte], Long)], key: RowType, value: RowType) {
  def keys: Array[Byte] = PythonValues.pickle(rows.map(_._1), key)
  def values: Array[Byte] = PythonValues.pickle(rows.map(_._2), value)
  def times: Array[Long] = rows.map(_._3).toArray
}
