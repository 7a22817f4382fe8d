package brookmere.kernel.rows

/** Task i is keyed by its slot, an int that Spark's hash sends to partition i mod P for many P. */
object Slots {
  /** Every P that divides this number gets the tasks evenly. */
  private val Modulus = 5040

  def apply(tasks: Int): Array[Int] = {
    val found = new Array[Int](tasks)
    val next = Array.tabulate(Modulus)(i => i)
    var left = tasks
    var x = 0
    while (left > 0) {
      val h = Math.floorMod(org.apache.spark.unsafe.hash.Murmur3_x86_32.hashInt(x, 42), Modulus)
      if (next(h) < tasks) { found(next(h)) = x; next(h) += Modulus; left -= 1 }
      x += 1
    }
    found
  }

  /** The task of a slot. */
  def taskOf(slots: Array[Int], slot: Int): Int = {
    var i = 0
    while (slots(i) != slot) i += 1
    i
  }
}
