package brookmere.kernel.python.marshal

/** A list of small numbers, or one number for all. */
private[python] final class IntColumn {
  private var all = new Array[Int](1 << 10)
  private var size = 0
  def count: Int = size
  def apply(i: Int): Int = all(i)

  /** Reads a list. */
  def read(in: MarshalIn): Unit = {
    size = in.sequence()
    if (size > all.length) all = new Array[Int](size * 2)
    var i = 0
    while (i < size) { all(i) = in.long().toInt; i += 1 }
  }

  /** Reads a list, or one number for `n` of them. */
  def read(in: MarshalIn, n: Int): Unit =
    if (!in.isInt) read(in)
    else {
      if (n > all.length) all = new Array[Int](n * 2)
      size = n
      java.util.Arrays.fill(all, 0, n, in.long().toInt)
    }
}

/** A list of times, or one time for all. */
private[python] final class LongColumn {
  private var all = new Array[Long](1 << 10)
  def apply(i: Int): Long = all(i)

  def read(in: MarshalIn, n: Int): Unit = {
    if (n > all.length) all = new Array[Long](n * 2)
    if (in.isInt) java.util.Arrays.fill(all, 0, n, in.long())
    else {
      in.sequence()
      var i = 0
      while (i < n) { all(i) = in.long(); i += 1 }
    }
  }
}
