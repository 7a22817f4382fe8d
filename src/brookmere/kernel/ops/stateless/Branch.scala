package brookmere.kernel.ops.stateless

import brookmere.kernel.core._
import brookmere.kernel.expr.{Bound, Projection}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Sends a record to the child of the first predicate that holds, or to the default child. */
final class Branch(id: Int, name: String, hasDefault: Boolean) extends Evaluating(id, name) {
  var predicates: Array[Bound] = Array.empty
  @transient private var tests: Array[Projection] = _
  /** Positions in `children`: one per predicate, the default's last. */
  private var targets: Array[Int] = Array.empty
  def target(predicate: Int, child: Int): Unit = {
    targets = targets.padTo(predicate + 1, -1)
    targets(predicate) = child
  }
  override def open(): Unit = { super.open(); tests = predicates.map(_.compile()) }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = {
    record.set(key, value, ts)
    var i = 0
    while (i < tests.length && !Predicate.holds(tests(i), record)) i += 1
    if (i < tests.length || hasDefault) {
      forwarded += 1
      children(targets(i)).receive(key, value, null, ts)
    } else drop()
  }
}
