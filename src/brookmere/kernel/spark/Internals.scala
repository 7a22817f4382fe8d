package org.apache.spark.sql.brookmere

import brookmere.kernel.program.Program
import brookmere.kernel.rows.{Destinations, Layout, OutputLayout, OutputRows, RawLayout, TaskMerge}
import brookmere.kernel.state.Family
import brookmere.kernel.transport.TopicsStream

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{Column, Encoders, Row}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.UnresolvedDeserializer
import org.apache.spark.sql.catalyst.encoders.{encoderFor, ExpressionEncoder}
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.classic.{Dataset, ExpressionUtils, SparkSession, Strategy}
import org.apache.spark.sql.execution.{InputAdapter, ProjectExec, SparkPlan, UnaryExecNode, WholeStageCodegenExec}
import org.apache.spark.sql.execution.datasources.v2.MicroBatchScanExec
import org.apache.spark.sql.execution.streaming.operators.stateful.transformwithstate.statefulprocessor._
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.sql.streaming._
import org.apache.spark.sql.types._

/**
 * The parts of Spark that are most likely to change with a release: logical nodes and their planning, the shell of
 * transformWithState, and access to its state store.
 */
object Internals {
  /** Applies stage 0 to raw rows. */
  def sources(spark: SparkSession, raw: Dataset[Row], program: Program, counted: QueryStats): Dataset[Row] = {
    install(spark)
    val plan = raw.queryExecution.analyzed
    require(plan.output.map(_.name) == RawLayout.schema.fieldNames.toSeq,
      s"the raw rows have the wrong columns: ${plan.output}")
    Dataset.ofRows(spark, Sources(DataTypeUtils.toAttributes(Layout.schema), program, counted, plan))
  }

  /** Applies a stateful stage to rows of the layout: exchange by task, merge, transformWithState. */
  def stage(spark: SparkSession, rows: Dataset[Row], processor: StageProcessor, partitions: Int): Dataset[Row] = {
    install(spark)
    val plan = rows.queryExecution.analyzed
    val columns = plan.output
    val task = columns.head
    val merged = Merged(RepartitionByExpression(Seq(task), plan, partitions))
    val keyEncoder = encoderFor(Encoders.scalaInt).asInstanceOf[ExpressionEncoder[Any]]
    val shell = new TransformWithState(
      UnresolvedDeserializer(keyEncoder.deserializer, Seq(task)), WholeRow(), Seq(task), columns,
      processor.asInstanceOf[StatefulProcessor[Any, Any, Any]], TimeMode.None(), OutputMode.Update(), keyEncoder,
      AttributeReference("row", ObjectType(classOf[InternalRow]), nullable = false)(), merged, false, Seq(task),
      columns,
      UnresolvedDeserializer(keyEncoder.deserializer, Seq(task)), LocalRelation(keyEncoder.schema))
    Dataset.ofRows(spark, Unwrapped(DataTypeUtils.toAttributes(Layout.schema), shell))
  }

  /** Applies the last step to rows of the layout: rows for a sink. */
  def outputs(spark: SparkSession, rows: Dataset[Row], to: Destinations, slots: Array[Int]): Dataset[Row] = {
    install(spark)
    val output = DataTypeUtils.toAttributes(OutputLayout.schema)
    Dataset.ofRows(spark, Written(output, to, slots, rows.queryExecution.analyzed))
  }

  /** Declares the column families on the driver; opens them and returns the store on an executor. */
  def openState(handle: StatefulProcessorHandle, families: Seq[Family]): Option[StateStore] = handle match {
    case d: DriverStatefulProcessorHandleImpl =>
      families.foreach { f =>
        // Registers the variable; its schema is replaced by the real one.
        d.getMapState(f.name, Encoders.BINARY, Encoders.BINARY, TTLConfig.NONE)
        d.columnFamilySchemas.put(f.name, StateStoreColFamilySchema(f.name, 0, f.keySchema, 0, f.valueSchema,
          Some(encoder(f)), Some(f.userKey)))
      }
      None
    case h: StatefulProcessorHandleImpl =>
      val field = classOf[StatefulProcessorHandleImpl].getDeclaredFields.find(_.getName.endsWith("store")).get
      field.setAccessible(true)
      val store = field.get(h).asInstanceOf[StateStore]
      families.foreach(f => createFamily(store, f))
      Some(store)
  }

  def createFamily(store: StateStore, f: Family): Unit =
    store.createColFamilyIfAbsent(f.name, f.keySchema, f.valueSchema, encoder(f))

  /** If a key has several rows, task and key are a prefix that Spark can search for. */
  private def encoder(f: Family): KeyStateEncoderSpec =
    if (f.hasPrefix) PrefixKeyScanStateEncoderSpec(f.keySchema, 2) else NoPrefixKeyStateEncoderSpec(f.keySchema)

  def expression(c: Column): Expression = ExpressionUtils.expression(c)
  def column(e: Expression): Column = ExpressionUtils.column(e)

  /** Embedded topics produce binary rows; Spark's projection would only copy them. */
  def bare(plan: SparkPlan): SparkPlan = plan match {
    case WholeStageCodegenExec(p: ProjectExec) => scanOf(p).getOrElse(plan)
    case p: ProjectExec => scanOf(p).getOrElse(plan)
    case _ => plan
  }
  private def scanOf(p: ProjectExec): Option[SparkPlan] = {
    val below = p.child match {
      case InputAdapter(c) => c
      case c => c
    }
    below match {
      case s: MicroBatchScanExec if s.stream.isInstanceOf[TopicsStream] &&
          p.projectList.map(_.exprId) == s.output.map(_.exprId) => Some(s)
      case _ => None
    }
  }

  private def install(spark: SparkSession): Unit =
    if (!spark.experimental.extraStrategies.contains(StageStrategy)) {
      spark.experimental.extraStrategies = spark.experimental.extraStrategies :+ StageStrategy
    }
}

case class Sources(output: Seq[Attribute], program: Program, counted: QueryStats, child: LogicalPlan)
    extends UnaryNode {
  override lazy val references: AttributeSet = child.outputSet
  override def producedAttributes: AttributeSet = outputSet
  override protected def withNewChildInternal(c: LogicalPlan): Sources = copy(child = c)
}

case class SourcesExec(output: Seq[Attribute], program: Program, counted: QueryStats, child: SparkPlan)
    extends UnaryExecNode {
  override def producedAttributes: AttributeSet = outputSet
  override protected def withNewChildInternal(c: SparkPlan): SourcesExec = copy(child = c)
  override protected def doExecute(): RDD[InternalRow] = {
    val p = program
    val s = counted
    Internals.bare(child).execute().mapPartitionsInternal(rows => new SourceIterator(rows, p, s))
  }
}

case class Merged(child: LogicalPlan) extends UnaryNode {
  override def output: Seq[Attribute] = child.output
  override protected def withNewChildInternal(c: LogicalPlan): Merged = copy(c)
}

/** Groups a partition's rows by task, in order of arrival; Spark would have to sort them. */
case class MergedExec(child: SparkPlan) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output
  override def outputPartitioning: Partitioning = child.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = Seq(SortOrder(child.output.head, Ascending))
  override protected def withNewChildInternal(c: SparkPlan): MergedExec = copy(c)
  override protected def doExecute(): RDD[InternalRow] =
    child.execute().mapPartitionsInternal(rows => new TaskMerge(rows))
}

case class Unwrapped(output: Seq[Attribute], child: LogicalPlan) extends UnaryNode {
  override lazy val references: AttributeSet = child.outputSet
  override def producedAttributes: AttributeSet = outputSet
  override protected def withNewChildInternal(c: LogicalPlan): Unwrapped = copy(child = c)
}

/** Takes the rows out of the objects that transformWithState returns. */
case class UnwrappedExec(output: Seq[Attribute], child: SparkPlan) extends UnaryExecNode {
  override def producedAttributes: AttributeSet = outputSet
  override protected def withNewChildInternal(c: SparkPlan): UnwrappedExec = copy(child = c)
  override protected def doExecute(): RDD[InternalRow] = {
    val t = child.output.head.dataType
    child.execute().mapPartitionsInternal(_.map(r => r.get(0, t).asInstanceOf[InternalRow]))
  }
}

case class Written(output: Seq[Attribute], to: Destinations, slots: Array[Int], child: LogicalPlan) extends UnaryNode {
  override lazy val references: AttributeSet = child.outputSet
  override def producedAttributes: AttributeSet = outputSet
  override protected def withNewChildInternal(c: LogicalPlan): Written = copy(child = c)
}

case class WrittenExec(output: Seq[Attribute], to: Destinations, slots: Array[Int], child: SparkPlan)
    extends UnaryExecNode {
  override def producedAttributes: AttributeSet = outputSet
  override protected def withNewChildInternal(c: SparkPlan): WrittenExec = copy(child = c)
  override protected def doExecute(): RDD[InternalRow] = {
    val d = to
    val s = slots
    child.execute().mapPartitionsInternal(rows => new OutputRows(rows, d, s))
  }
}

object StageStrategy extends Strategy {
  override def apply(p: LogicalPlan): Seq[SparkPlan] = p match {
    case Sources(output, program, counted, child) => SourcesExec(output, program, counted, planLater(child)) :: Nil
    case Merged(child) => MergedExec(planLater(child)) :: Nil
    case Unwrapped(output, child) => UnwrappedExec(output, planLater(child)) :: Nil
    case Written(output, to, slots, child) => WrittenExec(output, to, slots, planLater(child)) :: Nil
    case _ => Nil
  }
}

/** The whole input row as an object: transformWithState without encoders. */
case class WholeRow() extends LeafExpression with NonSQLExpression {
  override def dataType: DataType = ObjectType(classOf[InternalRow])
  override def nullable: Boolean = false
  override def eval(i: InternalRow): Any = i
  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val code = code"InternalRow ${ev.value} = ${JavaCode.expression(ctx.INPUT_ROW, dataType)};"
    ev.copy(code = code, isNull = FalseLiteral)
  }
}
