package brookmere.kernel.formats

import brookmere.kernel.core.BadBytes
import brookmere.kernel.expr.Utf8
import brookmere.kernel.rows.Rows

import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String

/** Reads the numbers and texts of binary formats from an array; truncated data is a bad record. */
final class Input {
  private var bytes: Array[Byte] = _
  private var position = 0
  private var limit = 0

  def set(data: Array[Byte], from: Int): Unit = { bytes = data; position = from; limit = data.length }
  def at: Int = position
  def end: Int = limit
  def left: Int = limit - position

  /** Ends the input after `length` bytes; returns its previous end. */
  def narrow(length: Int): Int = { need(length); val before = limit; limit = position + length; before }
  def widen(before: Int): Unit = limit = before

  def need(length: Long): Unit =
    if (length < 0 || length > limit - position)
      throw new BadBytes(
        if (length < 0) s"found the length $length at byte $position"
        else s"expected $length more byte${if (length == 1) "" else "s"} at byte $position, found ${limit - position}")

  def byte(): Byte = { need(1); position += 1; bytes(position - 1) }

  /** A number in groups of seven bits, the lowest first. */
  def varint(): Long = {
    if (position < limit && bytes(position) >= 0) { position += 1; return bytes(position - 1) }
    var result = 0L
    var shift = 0
    while (shift < 64) {
      val b = byte()
      result |= (b & 0x7fL) << shift
      if (b >= 0) return result
      shift += 7
    }
    throw new BadBytes(s"found a number of more than ten bytes at byte ${position - 10}")
  }

  /** A number with its sign in the lowest bit. */
  def zigzag(): Long = { val n = varint(); (n >>> 1) ^ -(n & 1) }

  def fixed32(): Int = { need(4); position += 4; Platform.getInt(bytes, Rows.Base + position - 4) }
  def fixed64(): Long = { need(8); position += 8; Platform.getLong(bytes, Rows.Base + position - 8) }

  def slice(length: Long): Array[Byte] = {
    need(length)
    position += length.toInt
    java.util.Arrays.copyOfRange(bytes, position - length.toInt, position)
  }

  def text(length: Long): UTF8String = {
    need(length)
    if (!Utf8.valid(bytes, Rows.Base + position, length.toInt))
      throw new BadBytes(s"found text that is not UTF-8 at byte $position")
    UTF8String.fromBytes(slice(length))
  }

  def skip(length: Long): Unit = { need(length); position += length.toInt }
}

/** Writes the numbers and texts of binary formats into a growing array. */
final class Output {
  private var bytes = new Array[Byte](128)
  private var length = 0

  def clear(): Unit = length = 0
  def size: Int = length
  def result(): Array[Byte] = java.util.Arrays.copyOf(bytes, length)

  private def room(more: Int): Unit = {
    val need = length + more
    if (need < 0) throw new BadBytes("the value is larger than 2 GB")
    if (need > bytes.length) {
      val doubled = math.min(bytes.length * 2L, Int.MaxValue - 16).toInt
      bytes = java.util.Arrays.copyOf(bytes, math.max(need, doubled))
    }
  }

  def byte(b: Int): Unit = { room(1); bytes(length) = b.toByte; length += 1 }
  def varint(n: Long): Unit = {
    room(10)
    var rest = n
    while ((rest & ~0x7fL) != 0) { bytes(length) = (rest | 0x80).toByte; length += 1; rest >>>= 7 }
    bytes(length) = rest.toByte
    length += 1
  }
  def zigzag(n: Long): Unit = varint((n << 1) ^ (n >> 63))
  def fixed32(n: Int): Unit = { room(4); Platform.putInt(bytes, Rows.Base + length, n); length += 4 }
  def fixed64(n: Long): Unit = { room(8); Platform.putLong(bytes, Rows.Base + length, n); length += 8 }
  def all(data: Array[Byte]): Unit = {
    room(data.length)
    System.arraycopy(data, 0, bytes, length, data.length)
    length += data.length
  }
  def text(s: UTF8String): Unit = {
    val n = s.numBytes
    room(n)
    Platform.copyMemory(s.getBaseObject, s.getBaseOffset, bytes, Rows.Base + length, n)
    length += n
  }

  /** Inserts the length of what was written since `start` before it. */
  def lengthBefore(start: Int): Unit = {
    val n = length - start
    var width = 1
    while ((n >>> (7 * width)) != 0) width += 1
    room(width)
    System.arraycopy(bytes, start, bytes, start + width, n)
    length = start
    varint(n)
    length = start + width + n
  }
}
