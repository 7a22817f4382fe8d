package brookmere.kernel.program

import brookmere.kernel.expr.RowType
import brookmere.kernel.ops.output.Tap
import brookmere.kernel.ops.stateless.{Branch, Filter, FlatMap, FlatMapValues, KeyNotNull, PassThrough, Project}

import org.apache.spark.sql.Column
import org.apache.spark.sql.brookmere.{Bind, Refused}
import org.apache.spark.sql.types.{ArrayType, StructType}

/** Adds the operators that treat each record of a stream alone. */
private[program] trait StreamNodes { this: ProgramBuilder =>
  def filter(at: Place, predicate: Column, negate: Boolean): Unit = {
    val in = input(at)
    add(at, new Filter(at.number, at.name, test(in, predicate), negate), in.key, in.value, isTable = false)
  }

  /** A key or value that is null stays as it is. */
  def project(at: Place, key: Column, value: Column): Unit = {
    val in = input(at)
    val k = if (key == null) null else bind(in, key)
    val v = if (value == null) null else bind(in, value)
    val p = new Project(at.number, at.name, k, v)
    add(at, p, if (k == null) in.key else k.result, if (v == null) in.value else v.result, isTable = false)
  }

  def flatMapValues(at: Place, array: Column): Unit = {
    val in = input(at)
    val b = bind(in, Bind.withoutExplode(array))
    b.result.dataType match {
      case ArrayType(e, _) =>
        add(at, new FlatMapValues(at.number, at.name, b, RowType(e)), in.key, RowType(e), isTable = false)
      case other => throw new Refused("array", other.sql)
    }
  }

  def flatMap(at: Place, array: Column): Unit = {
    val in = input(at)
    val b = bind(in, Bind.withoutExplode(array))
    b.result.dataType match {
      case ArrayType(StructType(Array(k, v)), _) =>
        val (key, value) = (RowType(k.dataType), RowType(v.dataType))
        add(at, new FlatMap(at.number, at.name, b, key, value), key, value, isTable = false)
      case other => throw new Refused("pairs", other.sql)
    }
  }

  def branch(at: Place, hasDefault: Boolean): Unit = {
    val in = input(at)
    add(at, new Branch(at.number, at.name, hasDefault), in.key, in.value, isTable = false)
  }

  /** Adds a predicate to a branch, after those it has. */
  def branchTest(branch: Int, predicate: Column): Unit = {
    val b = made(branch).processor.asInstanceOf[Branch]
    b.predicates = b.predicates :+ test(made(branch), predicate)
  }

  /** Sets which child of a branch receives the records of predicate `position`. */
  def branchTarget(branch: Int, position: Int, child: Int): Unit =
    made(branch).processor.asInstanceOf[Branch].target(position, positions((branch, child)))

  def passThrough(at: Place): Unit = {
    val in = input(at)
    add(at, new PassThrough(at.number, at.name, table(at)), in.key, in.value, in.isTable)
  }

  def keyNotNull(at: Place): Unit = {
    val in = input(at)
    add(at, new KeyNotNull(at.number, at.name), in.key, in.value, in.isTable)
  }

  def tap(at: Place): Unit = {
    val in = input(at)
    add(at, new Tap(at.number, at.name), in.key, in.value, isTable = false)
  }
}
