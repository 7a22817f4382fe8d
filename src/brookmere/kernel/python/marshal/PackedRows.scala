package brookmere.kernel.python.marshal

import java.util.Arrays

import brookmere.kernel.rows.Rows

import org.apache.spark.unsafe.Platform

/** Rows in Spark's binary format, built one after the other in one reused buffer. */
final class PackedRows {
  var bytes = new Array[Byte](1 << 16)
  var end = 0

  def clear(): Unit = end = 0

  /** Reserves `n` zero bytes, a multiple of eight, and returns where they begin. */
  def reserve(n: Int): Int = {
    val at = end
    val need = at + n
    if (need > bytes.length) bytes = Arrays.copyOf(bytes, math.max(need, bytes.length * 2))
    Arrays.fill(bytes, at, need, 0.toByte)
    end = need
    at
  }

  /** Appends bytes, and returns the content of a slot that refers to them, relative to `base`. */
  def append(from: Array[Byte], offset: Int, n: Int, base: Int): Long = {
    val full = Rows.padded(n)
    val at = end
    if (at + full > bytes.length) bytes = Arrays.copyOf(bytes, math.max(at + full, bytes.length * 2))
    if (full != n) Platform.putLong(bytes, Rows.Base + at + full - 8, 0L)
    System.arraycopy(from, offset, bytes, at, n)
    end = at + full
    ((at - base).toLong << 32) | n
  }

  def put(at: Int, v: Long): Unit = Platform.putLong(bytes, Rows.Base + at, v)
  def setBit(at: Int, i: Int): Unit = {
    val word = Rows.Base + at + 8L * (i >> 6)
    Platform.putLong(bytes, word, Platform.getLong(bytes, word) | (1L << (i & 63)))
  }
}
