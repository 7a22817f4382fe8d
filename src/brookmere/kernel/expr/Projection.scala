package brookmere.kernel.expr

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._

/**
 * A user's expression, bound to the rows that it reads. It is shipped with the program and compiled where it runs. It
 * is a chain because the optimiser may leave several projections.
 */
final class Bound(val chain: Seq[Seq[Expression]], val result: RowType, val shape: Bound.Shape) extends Serializable {

  /** Compiles the chain; the returned function reuses its result row. */
  def compile(): Projection = {
    val parts = chain.map { list => val p = Compile(list); p.initialize(0); p }.toArray
    new Projection(parts, result.fields, shape)
  }
}

/**
 * Compiles expressions to a projection: to byte code for many records, or interpreted for the few records of a test.
 */
object Compile {
  private val interpreted = ThreadLocal.withInitial[java.lang.Boolean](() => false)

  def apply(list: Seq[Expression]): UnsafeProjection =
    if (interpreted.get) InterpretedUnsafeProjection.createProjection(list) else UnsafeProjection.create(list)

  /** Runs `body` with interpreted projections. */
  def interpreting[A](body: => A): A = {
    interpreted.set(true)
    try body
    finally interpreted.set(false)
  }
}

object Bound {
  sealed trait Shape extends Serializable
  /** The fields of the result are the columns of the projection; it is never null. */
  case object Flat extends Shape
  /** One column that is not a struct; null means no result. */
  case object Single extends Shape
  /** One struct column that may be null. */
  case object Nested extends Shape
}

final class Projection(parts: Array[UnsafeProjection], fields: Int, shape: Bound.Shape) {
  private val nested = new UnsafeRow(fields)

  /** The result as a row, or null. It is valid until the next call. */
  def apply(input: InternalRow): UnsafeRow = {
    var row: InternalRow = input
    var i = 0
    while (i < parts.length) { row = parts(i)(row); i += 1 }
    val r = row.asInstanceOf[UnsafeRow]
    shape match {
      case Bound.Flat => r
      case Bound.Single => if (r.isNullAt(0)) null else r
      case Bound.Nested =>
        if (r.isNullAt(0)) null
        else {
          val at = r.getLong(0)
          nested.pointTo(r.getBaseObject, r.getBaseOffset + (at >>> 32).toInt, at.toInt)
          nested
        }
    }
  }
}
