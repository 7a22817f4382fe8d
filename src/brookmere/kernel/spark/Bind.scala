package org.apache.spark.sql.brookmere

import brookmere.kernel.expr.{Bound, RowType}

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.{Dataset, SparkSession}
import org.apache.spark.sql.execution.LogicalRDD
import org.apache.spark.sql.internal.UnresolvedFunction
import org.apache.spark.sql.types._

/** An expression that cannot be evaluated record by record: `kind` is a word that the caller explains. */
class Refused(val kind: String, val detail: String) extends RuntimeException(s"$kind|$detail")

/**
 * Binds a user's Column to the rows of a node: Spark analyses and optimises it against the node's schema.
 */
object Bind {
  /** A name that the expression may use, its type, and whether it arrives as a packed row. */
  final case class Input(name: String, dataType: DataType, packed: Boolean = true)

  def row(name: String, t: RowType): Input = Input(name, t.dataType)
  def plain(name: String, t: DataType): Input = Input(name, t, packed = false)

  /** Binds one column; `as` requests a cast to that type. */
  def apply(spark: SparkSession, inputs: Seq[Input], column: Column, as: Option[DataType] = None): Bound = {
    val user = as.fold(column)(t => column.cast(t))
    val chain = bind(spark, inputs, user)
    val last = strip(chain.last.head)
    val result = RowType(last.dataType)
    last match {
      case s: CreateNamedStruct => new Bound(chain.init :+ s.valExprs, result, Bound.Flat)
      case e if result.isStruct => new Bound(chain.init :+ Seq(e), result, Bound.Nested)
      case e => new Bound(chain.init :+ Seq(e), result, Bound.Single)
    }
  }

  /** The type that the column has. */
  def typeOf(spark: SparkSession, inputs: Seq[Input], column: Column): DataType =
    select(spark, inputs, column).schema.head.dataType

  /** `explode(array)` stands for the array where an array is expected. */
  def withoutExplode(column: Column): Column = column.node match {
    case UnresolvedFunction("explode", Seq(array), _, _, _, _) => Column(array)
    case _ => column
  }

  private def strip(e: Expression): Expression = e match {
    case Alias(c, _) => strip(c)
    case other => other
  }

  private def select(spark: SparkSession, inputs: Seq[Input], column: Column): Dataset[org.apache.spark.sql.Row] = {
    val schema = StructType(inputs.map { i =>
      StructField(i.name, if (i.packed) RowType(i.dataType).schema else i.dataType)
    })
    val attributes = DataTypeUtils.toAttributes(schema)
    val leaf = LogicalRDD(attributes, spark.sparkContext.emptyRDD[InternalRow])(spark)
    val visible = inputs.zip(attributes).map { case (i, a) =>
      if (i.packed && !RowType(i.dataType).isStruct) Alias(GetStructField(a, 0), i.name)() else a
    }
    Dataset.ofRows(spark, Project(visible, leaf)).select(column.as("result"))
  }

  private def bind(spark: SparkSession, inputs: Seq[Input], column: Column): Seq[Seq[Expression]] = {
    val selected = select(spark, inputs, column)
    check(selected.queryExecution.analyzed)
    def walk(p: LogicalPlan): Seq[Seq[Expression]] = p match {
      case _: LogicalRDD => Seq.empty
      case Project(list, child) => walk(child) :+ BindReferences.bindReferences(list, child.output)
      case other => throw new Refused("operator", other.nodeName)
    }
    val plan = selected.queryExecution.optimizedPlan
    val chain = walk(plan) match {
      case Seq() => Seq(BindReferences.bindReferences(plan.output, plan.output))
      case some => some
    }
    chain.flatten.foreach(_.foreach {
      case u: Unevaluable => throw new Refused("operator", u.prettyName)
      case _ =>
    })
    chain
  }

  private def check(plan: LogicalPlan): Unit = plan.foreach { node =>
    node match {
      case _: Aggregate => throw new Refused("aggregate", named(node))
      case _: Window => throw new Refused("window", named(node))
      case g: Generate => throw new Refused("generator", g.generator.prettyName)
      case _: Project | _: LogicalRDD =>
      case other => throw new Refused("operator", other.nodeName)
    }
    node.expressions.foreach(_.foreach(refuse))
  }

  private def named(node: LogicalPlan): String = {
    val names = node.expressions.flatMap(_.collect {
      case a: AggregateExpression => a.aggregateFunction.prettyName
      case w: WindowExpression => nameOf(w.windowFunction)
    })
    names.headOption.getOrElse(node.nodeName)
  }

  private def nameOf(e: Expression): String = e match {
    case a: AggregateExpression => a.aggregateFunction.prettyName
    case other => other.prettyName
  }

  private def refuse(e: Expression): Unit = e match {
    case p: PythonFuncExpression => throw new Refused("python", p.name)
    case a: AggregateFunction => throw new Refused("aggregate", a.prettyName)
    case w: WindowExpression => throw new Refused("window", nameOf(w.windowFunction))
    case g: Generator => throw new Refused("generator", g.prettyName)
    case s: SubqueryExpression => throw new Refused("subquery", s.prettyName)
    case c: Cast if times(c.dataType) && c.child.foldable && c.child.dataType.isInstanceOf[StringType] &&
        isMoment(c.child.eval()) =>
      throw new Refused("clock", "'" + c.child.eval() + "'")
    case n if clocks(n.prettyName) => throw new Refused("clock", n.prettyName)
    case n: Nondeterministic => throw new Refused("nondeterministic", n.prettyName)
    case n if !n.deterministic && n.children.forall(_.deterministic) =>
      throw new Refused("nondeterministic", n.prettyName)
    case _ =>
  }

  private def times(t: DataType): Boolean = t == DateType || t == TimestampType || t == TimestampNTZType
  /** Words that the optimiser would replace by the time of compilation. */
  private def isMoment(text: Any): Boolean =
    text != null && Set("now", "today", "tomorrow", "yesterday")(text.toString.trim.toLowerCase(java.util.Locale.ROOT))

  private val clocks =
    Set("current_timestamp", "current_date", "localtimestamp", "now", "curdate", "current_time", "unix_timestamp_now")
}
