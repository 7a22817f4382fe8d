package org.apache.spark.sql.brookmere

import java.util.ArrayList

import brookmere.kernel.expr.RowType
import brookmere.kernel.rows.Rows

import net.razorvine.pickle.Pickler
import org.apache.spark.sql.execution.python.EvaluatePython

/** Pickles packed rows as Python values, as Spark does for collect(). */
object PythonValues {
  /** A pickled list with one value per packed row; null is None. */
  def pickle(packed: Iterable[Array[Byte]], t: RowType): Array[Byte] = {
    EvaluatePython.registerPicklers()
    val values = new ArrayList[Any]()
    packed.foreach { b =>
      values.add(
        if (b == null) null
        else {
          val row = Rows.of(b, t.fields)
          if (t.isStruct) EvaluatePython.toJava(row, t.dataType, true)
          else EvaluatePython.toJava(row.get(0, t.dataType), t.dataType, true)
        })
    }
    new Pickler(true, false).dumps(values.toArray)
  }
}
