package brookmere.kernel.python.folds

import java.util.{ArrayList, Arrays, IdentityHashMap}

import brookmere.kernel.core.{PythonError, Unavailable}
import brookmere.kernel.expr.RowType
import brookmere.kernel.ops.aggregates.{Folds, PythonFold}
import brookmere.kernel.python.marshal._
import brookmere.kernel.python.stage.Answer
import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * The calls of Python functions by the aggregates of a stage. A dry run collects them: the function, the record, and
 * the aggregate to pass, which is a stored one or the result of an earlier call. The worker makes the calls in this
 * order, and the run of the same records takes their results.
 *
 * In a dry run the result of a call is a row of eight bytes, the number of the call. No packed row is that short.
 */
private[python] final class FoldCalls(functions: Array[FoldCalls.Function]) extends Folds {
  import FoldCalls._
  private val readers = functions.map(f => new UnmarshalRow(f.kept))
  private val rows = functions.map(f => new UnsafeRow(f.kept.fields))
  private val initials = functions.map(f => new UnsafeRow(f.kept.fields))
  private val writers = functions.map(f => new MarshalRow(f.kept))
  private val packed = new PackedRows
  private val results = new RowColumn(packed)
  private val starts = new RowColumn(packed)
  private val called = new Ints
  private val befores = new Ints
  private val mergeds = new Ints
  private val records = new Ints
  private val stored = new ArrayList[(Array[Byte], Int)]()
  private val numbers = new IdentityHashMap[AnyRef, Integer]()
  private val unknown = new Array[Byte](UnknownBytes)
  private val unknownRow = new UnsafeRow(1)
  unknownRow.pointTo(unknown, UnknownBytes)
  private var next = 0
  private var hasStarts = false
  private var error: PythonError = null
  private var begun: UnsafeRow = null
  /** Results of the first calls, which the worker has made before: packed rows, null for None. */
  private val known = new ArrayList[Array[Byte]]()
  private val knownStarts = new ArrayList[Array[Byte]]()

  var isDry = false
  /** The number of the record at hand among those that a dry run has found calls for. */
  private var record = -1
  private var isCaller = false

  def beginDryRun(): Unit = {
    isDry = true
    called.clear(); befores.clear(); mergeds.clear(); records.clear()
    stored.clear(); numbers.clear()
    packed.clear(); results.clear(); starts.clear()
    error = null
    hasStarts = false
    next = 0
    record = -1
  }
  def endDryRun(): Unit = { isDry = false; next = 0 }

  /** Turns to another record of a dry run. */
  def nextRecord(): Unit = isCaller = false
  /** True if the record at hand makes calls. */
  def hasCalls: Boolean = isCaller
  def count: Int = called.size
  def recordCount: Int = record + 1

  override def initial: UnsafeRow = begun

  override def apply(function: Int, before: UnsafeRow, merged: UnsafeRow): UnsafeRow =
    if (next < known.size) {
      begun = rowOf(knownStarts.get(next), initials(function))
      next += 1
      rowOf(known.get(next - 1), rows(function))
    } else if (isDry) collected(function, before, merged)
    else taken(function)

  private def rowOf(bytes: Array[Byte], as: UnsafeRow): UnsafeRow =
    if (bytes == null) null else { as.pointTo(bytes, bytes.length); as }

  private def collected(function: Int, before: UnsafeRow, merged: UnsafeRow): UnsafeRow = {
    if (!isCaller) { record += 1; isCaller = true }
    befores.add(number(before, function))
    mergeds.add(number(merged, function))
    called.add(function)
    records.add(record)
    Platform.putLong(unknown, Rows.Base, called.size)
    unknownRow
  }

  /** Of a result the number of its call, from 1; of a stored aggregate its number, from -1 down; 0 for none. */
  private def number(row: UnsafeRow, function: Int): Int =
    if (row == null) 0
    else if (row.getSizeInBytes == UnknownBytes) Platform.getLong(row.getBaseObject, row.getBaseOffset).toInt
    else {
      val bytes = row.getBaseObject.asInstanceOf[Array[Byte]]
      val known = numbers.get(bytes)
      if (known != null) known
      else {
        stored.add((bytes, function))
        numbers.put(bytes, -stored.size)
        -stored.size
      }
    }

  private def taken(function: Int): UnsafeRow = {
    val n = next - known.size
    next += 1
    if (n == results.count) {
      throw if (error != null) error else new Unavailable("an aggregate makes a call that its dry run did not make")
    }
    begun = if (hasStarts) starts.row(n, initials(function)) else null
    results.row(n, rows(function))
  }

  /** Writes the calls: functions, records, aggregates before, aggregates to merge, stored aggregates. */
  def write(out: MarshalOut): Unit = {
    val first = stored.size
    def value(n: Int): Unit = out.int(if (n > 0) first + n else -n)
    if (called.isUniform) out.int(called(0)) else called.write(out)(out.int(_))
    if (record + 1 == called.size) out.none() else records.write(out)(out.int(_))
    befores.write(out)(value)
    if (mergeds.isUniform && mergeds(0) == 0) out.none() else mergeds.write(out)(value)
    out.list(first)
    stored.forEach { s =>
      val r = rows(s._2)
      r.pointTo(s._1, s._1.length)
      writers(s._2).write(r, out)
    }
  }

  /** Reads an answer: results, up to a call that has failed or whose None was not foreseen. */
  def read(in: MarshalIn): Unit = {
    in.sequence()
    val n = in.sequence()
    var i = 0
    while (i < n && error == null) {
      val f = called(i)
      try results.read(in, readers(f))
      catch {
        case m: Misfit =>
          // What came after it has been computed from a value that cannot be kept.
          error = Answer.misfit(functions(f).node, "value", m)
      }
      i += 1
    }
    if (error == null) {
      hasStarts = !in.takeNone()
      if (hasStarts) {
        in.sequence()
        i = 0
        while (i < n) { starts.read(in, readers(called(i))); i += 1 }
      }
      if (!in.takeNone()) { in.sequence(); error = new PythonError(in.text(), in.text(), in.text()) }
    }
  }

  def isComplete: Boolean = results.count == called.size
  def hasFailed: Boolean = error != null
  /** The record whose call has failed, or has given an unforeseen None. */
  def stoppedAt: Int = records(if (hasFailed) results.count else results.count - 1)

  def forget(): Unit = { known.clear(); knownStarts.clear() }

  /** Keeps the results of a record for the next dry run, which begins with it. */
  def keep(record: Int): Unit = {
    var i = results.count
    while (i > 0 && records(i - 1) == record) i -= 1
    while (i < results.count) {
      known.add(Rows.bytes(results.row(i, rows(called(i)))))
      knownStarts.add(if (hasStarts) Rows.bytes(starts.row(i, initials(called(i)))) else null)
      i += 1
    }
  }
}

private[python] object FoldCalls {
  private val UnknownBytes = 8

  /** A function as the worker knows it, by its number: the node that calls it, and the type of its result. */
  final class Function(val node: String, val kept: RowType)

  /** The functions of the aggregates of a stage, in the order of their numbers. */
  def functionsOf(folds: Seq[(String, PythonFold)]): Array[Function] = {
    val all = folds.flatMap { case (node, f) =>
      Seq(f.step, f.other).filter(_ >= 0).map(_ -> new Function(node, f.kept))
    }.toMap
    Array.tabulate(all.size)(all)
  }

  private final class Ints {
    private var all = new Array[Int](1 << 10)
    var size = 0
    def clear(): Unit = size = 0
    def apply(i: Int): Int = all(i)
    def add(n: Int): Unit = {
      if (size == all.length) all = Arrays.copyOf(all, size * 2)
      all(size) = n
      size += 1
    }
    /** True if all are the same. */
    def isUniform: Boolean = { var i = 1; while (i < size && all(i) == all(0)) i += 1; i >= size }
    def write(out: MarshalOut)(one: Int => Unit): Unit = {
      out.list(size)
      var i = 0
      while (i < size) { one(all(i)); i += 1 }
    }
  }
}
