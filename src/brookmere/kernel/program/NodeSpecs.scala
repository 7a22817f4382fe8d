package brookmere.kernel.program

import java.util.{List => JList}

import scala.jdk.CollectionConverters._

import brookmere.kernel.state.StoreDef

import org.apache.spark.sql.Column

// What Python passes to the methods of ProgramBuilder. Each class has a frozen dataclass of the same name and fields
// in run/program_builder.py; tests/run/test_program_builder.py compares the two. A Column or a text
// that is missing is null.

/** Where a node is: its number, name and stage, and the numbers of its parents. */
final case class Place(number: Int, name: String, stage: Int, parents: JList[Integer]) {
  def parentNumbers: Seq[Int] = parents.asScala.map(_.intValue).toSeq
}

/** How a source reads: the positions of its topics, and which handler gets records that cannot be decoded. */
final case class SourceSpec(topics: JList[Integer], isGlobal: Boolean, onBadRecord: String)

/** A store by name, and how it keeps its rows; see [[StoreDef]]. */
final case class StoreSpec(name: String, kind: String)

/** A store of windows, sessions or buffered records, which expire after `retention` milliseconds. */
final case class TimedStoreSpec(name: String, kind: String, retention: Long)

/** A store of Python code. `shape` says how several rows of a key differ. */
final case class PythonStoreSpec(
    name: String,
    kind: String,
    keyType: String,
    valueType: String,
    shape: String,
    retention: Long,
    windowMs: Long)

/**
 * How an aggregate is computed. `merge` is for sessions, `valueType` the JSON of the type that the store keeps, and
 * `result` what the aggregate shows if it keeps more than that.
 */
final case class FoldSpec(initial: Column, step: Column, merge: Column, valueType: String, result: Column)

/**
 * The functions of an aggregate in Python, by the numbers under which the worker knows them. `other` merges two
 * sessions or removes a value, and is negative if there is none; `valueType` is the JSON of the type that the store
 * keeps. Without `hasInitial` the first value is the aggregate; `takesKey` if a function takes the key of the record.
 */
final case class PythonFoldSpec(step: Int, other: Int, valueType: String, hasInitial: Boolean, takesKey: Boolean)

/** Tumbling and hopping windows; `begin` is the time of the first one. All times are milliseconds. */
final case class TimeWindowSpec(size: Long, advance: Long, grace: Long, begin: Long)

final case class SlidingWindowSpec(difference: Long, grace: Long)

final case class SessionWindowSpec(gap: Long, grace: Long)

/** When a windowed aggregate sends its results, and which records it leaves out. */
final case class EmissionSpec(sendOld: Boolean, onClose: Boolean, all: Boolean, skipNulls: Boolean)

/** How long `suppress` holds changes back, and what it does when its buffer is full. */
final case class SuppressSpec(
    untilClose: Boolean,
    waitMs: Long,
    maxRecords: Long,
    maxBytes: Long,
    stopWhenFull: Boolean,
    isSession: Boolean)

/** The times of right records that match a left one, relative to it. */
final case class JoinSpanSpec(before: Long, after: Long, grace: Long)

/** One side of a stream-stream join. `buffer` is the node that keeps the records of the other side, in `other`. */
final case class StreamJoinSpec(
    isLeft: Boolean,
    isOuter: Boolean,
    buffer: Int,
    other: String,
    clock: String,
    dropLate: Boolean,
    waitForGrace: Boolean)

/** A lookup in the table of the node `table`; a left join also has results for missing rows. */
final case class LookupSpec(table: Int, isLeft: Boolean, joiner: Column)

/** One side of a table join; `other` is the node with the other table. */
final case class TableJoinSpec(other: Int, isLeft: Boolean, how: String, joiner: Column)

/** Since when a changelog exists, and whether the store may have rows that are older. */
final case class LogStart(since: Long, isNew: Boolean)
