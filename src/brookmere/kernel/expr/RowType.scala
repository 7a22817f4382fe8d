package brookmere.kernel.expr

import org.apache.spark.sql.types._

/**
 * The type of a key or value. A struct is its own row; anything else is in a row of one field. A null key or value has
 * no row at all.
 */
final case class RowType(dataType: DataType) {
  val isStruct: Boolean = dataType.isInstanceOf[StructType]
  val schema: StructType = dataType match {
    case s: StructType => s
    case other => new StructType().add("value", other)
  }
  val fields: Int = schema.length
  def same(other: RowType): Boolean = DataType.equalsIgnoreNullability(dataType, other.dataType)
}

object RowType {
  def apply(dataType: DataType): RowType = new RowType(nullable(dataType))

  /** Stored and shuffled rows outlive any knowledge about nulls, so all fields are nullable. */
  private def nullable(t: DataType): DataType = t match {
    case StructType(fields) => StructType(fields.map(f =>
      f.copy(dataType = nullable(f.dataType), nullable = true, metadata = Metadata.empty)))
    case ArrayType(e, _) => ArrayType(nullable(e), containsNull = true)
    case MapType(k, v, _) => MapType(nullable(k), nullable(v), valueContainsNull = true)
    case c: CharType => StringType
    case v: VarcharType => StringType
    case other => other
  }
}

/** Finds the type of an aggregate from its initial value and its step. */
object TypeMerge {
  /** The narrowest type that holds both, or null. A null literal fits everything. */
  def apply(a: DataType, b: DataType): DataType = (a, b) match {
    case (x, y) if x == y => x
    case (NullType, y) => y
    case (x, NullType) => x
    case (StructType(f), StructType(g)) if f.length == g.length && f.map(_.name).sameElements(g.map(_.name)) =>
      val merged = f.zip(g).map { case (x, y) => x.copy(dataType = apply(x.dataType, y.dataType), nullable = true) }
      if (merged.exists(_.dataType == null)) null else StructType(merged)
    case (ArrayType(x, _), ArrayType(y, _)) =>
      val e = apply(x, y)
      if (e == null) null else ArrayType(e, containsNull = true)
    case (MapType(k, v, _), MapType(l, w, _)) =>
      val key = apply(k, l)
      val value = apply(v, w)
      if (key == null || value == null) null else MapType(key, value, valueContainsNull = true)
    case (x: NumericType, y: NumericType) => wider(x, y)
    case _ => null
  }

  private val order: Seq[DataType] = Seq(ByteType, ShortType, IntegerType, LongType, FloatType, DoubleType)
  private def wider(a: NumericType, b: NumericType): DataType = (a, b) match {
    case (x: DecimalType, y: DecimalType) =>
      val scale = math.max(x.scale, y.scale)
      val whole = math.max(x.precision - x.scale, y.precision - y.scale)
      if (whole + scale > DecimalType.MAX_PRECISION) null else DecimalType(whole + scale, scale)
    case (d: DecimalType, y) if digits.contains(y) => apply(d, DecimalType(digits(y), 0))
    case (x, d: DecimalType) if digits.contains(x) => apply(DecimalType(digits(x), 0), d)
    case (_: DecimalType, _) | (_, _: DecimalType) => DoubleType
    case (x, y) => order(math.max(order.indexOf(x), order.indexOf(y)))
  }
  private val digits: Map[DataType, Int] = Map(ByteType -> 3, ShortType -> 5, IntegerType -> 10, LongType -> 20)

  /** True if some part of the type is still unknown. */
  def open(t: DataType): Boolean = t match {
    case NullType => true
    case StructType(f) => f.exists(x => open(x.dataType))
    case ArrayType(e, _) => open(e)
    case MapType(k, v, _) => open(k) || open(v)
    case _ => false
  }
}
