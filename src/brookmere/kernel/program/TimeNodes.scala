package brookmere.kernel.program

import java.util.{List => JList}

import brookmere.kernel.core.{Idle, LateSink}
import brookmere.kernel.expr.{RowType, Writer}
import brookmere.kernel.ops
import brookmere.kernel.state.{Groups, StoreDef}

import org.apache.spark.sql.Column
import org.apache.spark.sql.types.BooleanType

/** The nodes that time makes necessary: what is dropped, what expires. */
private[program] trait TimeNodes { this: ProgramBuilder =>
  /** A sink for what the node `of` drops: records as that node receives them. */
  def lateSink(id: Int, name: String, stage: Int, of: Int, input: Int, key: Writer, value: Writer): Unit = {
    val p = new LateSink(id, name, key, value)
    add(id, stage, p, made(input).key, made(input).value, isTable = false, Seq.empty)
    made(of).processor.late = p
  }

  /** Lets stream time of a node go on with the wall clock once no record has come for `ms` milliseconds. */
  def closeIdle(id: Int, ms: Long): Unit = made(id).processor.asInstanceOf[Idle].closeIdle = ms

  def dedupe(id: Int, name: String, stage: Int, parents: JList[Integer], store: String, kind: String, by: Column, within: Long): Unit = {
    val in = input(name, parents)
    val same = if (by == null) null else bind(in, by)
    val what = if (same == null) in.key else same.result
    // A record that is up to `within` late is compared with those that far around it.
    define(stage, StoreDef(store, kind, what, TimeNodes.mark, Some(Groups(Groups.Items, 2 * within))))
    add(id, stage, new ops.windows.Dedupe(id, name, store, same, within), in.key, in.value, isTable = false, ids(parents))
  }

  /** A table whose rows live for `ttl` milliseconds. */
  def expiringTable(id: Int, name: String, stage: Int, parents: JList[Integer], store: String, kind: String,
      ttl: Long, sendOld: Boolean): Unit = {
    val in = input(name, parents)
    val ages = store + "-ages"
    define(stage, StoreDef(store, kind, in.key, in.value))
    // What is older than the time to live was deleted before.
    define(stage, StoreDef(ages, kind, in.key, TimeNodes.mark, Some(Groups(Groups.Items, ttl + 1, timed = true))))
    add(id, stage, new ops.tables.ExpiringTable(id, name, store, ages, in.key, ttl, sendOld), in.key, in.value, isTable = true, ids(parents))
  }
}

private[program] object TimeNodes {
  /** The value of a row of which only the time matters. */
  val mark: RowType = RowType(BooleanType)
}
