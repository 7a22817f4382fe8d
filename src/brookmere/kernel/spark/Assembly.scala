package org.apache.spark.sql.brookmere

import java.util.{List => JList}

import scala.jdk.CollectionConverters._

import brookmere.kernel.core.{Counters, Latest, StageTimes, Sums}
import brookmere.kernel.program.{Outputs, Program}
import brookmere.kernel.python.workers.{WorkerEnv, Workers}
import brookmere.kernel.rows.{DestinationSpec, Layout}
import brookmere.kernel.state.{Group, GroupLog, Item, LogStore, StoreRow, StoreRows}

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.classic.{Dataset, SparkSession}

/** Builds a query from the stages of a program. Python calls it. */
final class Assembly(spark: SparkSession, val program: Program, partitions: Int) {
  private val counters = new Sums(program.nodeCount * Counters.Kinds)
  private val times = Array.fill(program.stages.length)(new Sums(StageTimes.Kinds))
  spark.sparkContext.register(counters)
  times.foreach(t => spark.sparkContext.register(t))
  private val latest = new Latest(program.settings.topics.length)
  spark.sparkContext.register(latest)
  private val stats = new QueryStats(counters, times, latest)

  /** Sets how workers for Python stages are started; call it before `rows`. */
  def runPython(workers: WorkerEnv): Unit = program.workers = workers

  private var before: StateMigration = null

  /** Starts the first batch with the state of another version of the program; call it before `rows`. */
  def migrateFrom(json: String): Unit = before = StateMigration.read(spark, json)

  /** Raw rows in, rows of the layout out, with all stages in between. */
  def rows(raw: Dataset[Row]): Dataset[Row] = {
    var d = Internals.sources(spark, raw, program, stats)
    var n = 1
    while (n < program.chains.length) {
      d = Internals.stage(spark, d, new StageProcessor(program, n, stats, before, partitions), partitions)
      n += 1
    }
    d
  }

  /** Rows of the layout in, rows for a sink out. */
  def outputs(rows: Dataset[Row], to: DestinationSpec): Dataset[Row] =
    Internals.outputs(spark, rows, to.destinations, program.slots)

  def counts: Array[Long] = counters.value
  /** The latest time of the records of each topic since the start, in the order of the topics. */
  def latestTimes: Array[Long] = latest.value
  def stageTimes(n: Int): Array[Long] = times(n).value

  /** Collects the rows of a finished batch on the driver, in order of arrival. */
  def collect(rows: Dataset[Row], routed: java.util.Set[Integer]): Array[Byte] = {
    // Sorted here: Spark's sort samples first, and so would run the stages twice.
    val sorted = rows.queryExecution.toRdd.map(_.asInstanceOf[UnsafeRow].copy()).collect()
    java.util.Arrays.sort(sorted, Layout.order)
    val out = new Outputs(routed.asScala.map(_.intValue).toSet)
    sorted.foreach(r => out.add(r, program.slots.indexOf(r.getInt(Layout.Task))))
    out.result()
  }

  def forget(run: String): Unit = {
    Caches.forget(run)
    Workers.forget(run)
  }
}

object Assembly {
  /** The rows that remain of the chunks of a task's log, in order, without those older than `oldest`. */
  def readLog(program: Program, name: String, chunks: JList[Array[Byte]], oldest: Long): StoreRows = {
    val d = program.stages.iterator.flatMap(_.stores).find(_.name == name).get
    if (d.groups.isEmpty) {
      val live = new java.util.LinkedHashMap[java.nio.ByteBuffer, StoreRow]()
      chunks.asScala.foreach(c => LogStore.read(c) { (k, v, ts) =>
        val key = java.nio.ByteBuffer.wrap(k)
        if (v == null) live.remove(key) else live.put(key, StoreRow(k, v, ts))
      })
      new StoreRows(d, live.values.asScala.toSeq)
    } else {
      val live = new java.util.LinkedHashMap[(java.nio.ByteBuffer, Long, Long, java.nio.ByteBuffer), Item]()
      chunks.asScala.foreach(c => GroupLog.read(c) { (k, sub, v, ts, time, number) =>
        val key = (java.nio.ByteBuffer.wrap(k), time, number, if (sub == null) null else java.nio.ByteBuffer.wrap(sub))
        if (v == null) live.remove(key)
        else {
          val i = new Item(new Group(k, 0), time, number, sub)
          i.value = v
          i.ts = ts
          live.put(key, i)
        }
      })
      new StoreRows(d, StoreRow.of(d, live.values.asScala.iterator.filter(_.time >= oldest)))
    }
  }

  /** The earliest time that can be found in a store with several rows per key, at the store's own time. */
  def oldest(program: Program, name: String, now: Long): Long =
    program.stages.iterator.flatMap(_.stores).find(_.name == name).flatMap(_.groups).fold(Long.MinValue)(_.oldest(now))

  /**
   * Name, kind, key type, value type and chain of the stores of a program, by chain. Stores with several rows per key
   * also have their shape, their retention, whether rows can be found by time, and the type that distinguishes rows of
   * one time.
   */
  def stores(program: Program): JList[JList[String]] =
    program.stages.toSeq.flatMap(s => s.stores.toSeq.map { d =>
      val groups = d.groups.toSeq.flatMap { g =>
        Seq(g.shape, g.retention.toString, g.timed.toString, g.sub.fold("")(_.dataType.json))
      }
      val types = Seq(d.shownKey.dataType.json, d.value.dataType.json)
      (Seq(d.name, d.kind) ++ types ++ Seq(program.chainOf(s.number).toString) ++ groups).asJava
    }).asJava
}
