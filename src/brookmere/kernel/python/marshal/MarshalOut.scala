package brookmere.kernel.python.marshal

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import brookmere.kernel.rows.Rows

import org.apache.spark.unsafe.Platform

/**
 * The name of a field: written in full once per message, and as a reference from then on. It belongs to one
 * `MarshalOut` only.
 */
final class FieldName(name: String) {
  private[python] val bytes: Array[Byte] = name.getBytes(UTF_8)
  private[python] var message = -1
  private[python] var reference = 0
}

/** Writes values as Python's marshal reads them, one message at a time into one buffer. */
final class MarshalOut {
  var bytes = new Array[Byte](1 << 16)
  var size = 0
  private var message = 0
  private var references = 0

  def begin(): Unit = { size = 0; references = 0; message += 1 }

  private def need(n: Int): Unit =
    if (size + n > bytes.length) bytes = Arrays.copyOf(bytes, math.max(size + n, bytes.length * 2))

  private def head(code: Char, n: Int): Unit = {
    need(5)
    bytes(size) = code.toByte
    Platform.putInt(bytes, Rows.Base + size + 1, n)
    size += 5
  }

  private def single(code: Char): Unit = { need(1); bytes(size) = code.toByte; size += 1 }

  def none(): Unit = single('N')
  def bool(v: Boolean): Unit = single(if (v) 'T' else 'F')

  def int(v: Long): Unit =
    if (v == v.toInt) head('i', v.toInt)
    else {
      need(9)
      bytes(size) = 'I'
      Platform.putLong(bytes, Rows.Base + size + 1, v)
      size += 9
    }

  def double(v: Double): Unit = {
    need(9)
    bytes(size) = 'g'
    Platform.putDouble(bytes, Rows.Base + size + 1, v)
    size += 9
  }

  def text(base: AnyRef, offset: Long, n: Int): Unit = { head('u', n); copy(base, offset, n) }
  def text(s: String): Unit = { val b = s.getBytes(UTF_8); text(b, Rows.Base, b.length) }
  def binary(base: AnyRef, offset: Long, n: Int): Unit = { head('s', n); copy(base, offset, n) }
  def binary(b: Array[Byte]): Unit = binary(b, Rows.Base, b.length)

  private def copy(base: AnyRef, offset: Long, n: Int): Unit = {
    need(n)
    Platform.copyMemory(base, offset, bytes, Rows.Base + size, n)
    size += n
  }

  def list(n: Int): Unit = head('[', n)
  def tuple(n: Int): Unit = head('(', n)

  /** Begins a dict: keys and values alternate, then `endDict`. */
  def dict(): Unit = single('{')
  def endDict(): Unit = single('0')

  def name(n: FieldName): Unit =
    if (n.message == message) head('r', n.reference)
    else {
      n.message = message
      n.reference = references
      references += 1
      // An interned text that later values can refer to.
      head(('t' | 0x80).toChar, n.bytes.length)
      copy(n.bytes, Rows.Base, n.bytes.length)
    }
}
