package brookmere.kernel.python.marshal

/** Finds the known name that is most similar to another one. */
object Nearest {
  /** The nearest of the names; null if none is near. */
  def apply(name: String, known: Array[String]): String =
    if (known.isEmpty) null
    else {
      val best = known.minBy(k => distance(name.toLowerCase, k.toLowerCase))
      if (distance(name.toLowerCase, best.toLowerCase) <= math.max(1, math.max(name.length, best.length) / 2)) best
      else null
    }

  /** How many letters have to be changed, added or removed. */
  private def distance(a: String, b: String): Int = {
    var above = Array.tabulate(b.length + 1)(i => i)
    for (i <- 1 to a.length) {
      val row = new Array[Int](b.length + 1)
      row(0) = i
      for (j <- 1 to b.length) {
        val change = above(j - 1) + (if (a(i - 1) == b(j - 1)) 0 else 1)
        row(j) = math.min(change, math.min(above(j), row(j - 1)) + 1)
      }
      above = row
    }
    above(b.length)
  }
}
