package brookmere.kernel.python.marshal

import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8

import brookmere.kernel.rows.Rows

import org.apache.spark.unsafe.Platform

/** Reads what Python's marshal (version 2) has written. */
final class MarshalIn {
  var bytes: Array[Byte] = _
  var at = 0

  def set(payload: Array[Byte]): Unit = { bytes = payload; at = 0 }

  /** The code of the next value. */
  def code: Char = (bytes(at) & 0xff).toChar

  /** Reads a code, and then a count or a size. */
  def count(): Int = { val n = Platform.getInt(bytes, Rows.Base + at + 1); at += 5; n }

  def isNone: Boolean = bytes(at) == 'N'
  def takeNone(): Boolean = if (bytes(at) == 'N') { at += 1; true } else false

  def isInt: Boolean = { val c = bytes(at); c == 'i' || c == 'l' || c == 'I' }
  def isSequence: Boolean = { val c = bytes(at); c == '[' || c == '(' }

  /** An int that fits into 64 bits. */
  def long(): Long = bytes(at) match {
    case 'i' => val v = Platform.getInt(bytes, Rows.Base + at + 1); at += 5; v
    case 'I' => val v = Platform.getLong(bytes, Rows.Base + at + 1); at += 9; v
    case 'l' =>
      val n = Platform.getInt(bytes, Rows.Base + at + 1)
      val digits = math.abs(n)
      if (digits <= MarshalIn.SafeDigits) {
        var v = 0L
        var i = 0
        while (i < digits) { v |= digit(at + 5, i).toLong << (MarshalIn.DigitBits * i); i += 1 }
        at += 5 + 2 * digits
        if (n < 0) -v else v
      } else {
        val from = at
        val v = big()
        if (v.bitLength > 63) { at = from; throw new Misfit(describe(), "BIGINT") }
        v.longValue
      }
    case _ => throw new Misfit(describe(), "an int")
  }

  /** An int of any size. */
  def big(): BigInteger =
    if (bytes(at) != 'l') BigInteger.valueOf(long())
    else {
      val n = count()
      var v = BigInteger.ZERO
      var i = math.abs(n) - 1
      while (i >= 0) { v = v.shiftLeft(MarshalIn.DigitBits).or(BigInteger.valueOf(digit(at, i))); i -= 1 }
      at += 2 * math.abs(n)
      if (n < 0) v.negate else v
    }

  private def digit(from: Int, i: Int): Int = Platform.getShort(bytes, Rows.Base + from + 2L * i) & 0x7fff

  def double(): Double = { val v = Platform.getDouble(bytes, Rows.Base + at + 1); at += 9; v }

  def bool(): Boolean = bytes(at) match {
    case 'T' => at += 1; true
    case 'F' => at += 1; false
    case _ => throw new Misfit(describe(), "a bool")
  }

  /** A text, or null for None. */
  def text(): String =
    if (takeNone()) null
    else if (code != 'u') throw new Misfit(describe(), "a str")
    else { val n = count(); at += n; new String(bytes, at - n, n, UTF_8) }

  /** Bytes, or null for None. */
  def binary(): Array[Byte] =
    if (takeNone()) null
    else if (code != 's') throw new Misfit(describe(), "bytes")
    else { val n = count(); at += n; java.util.Arrays.copyOfRange(bytes, at - n, at) }

  /** The length of a list or tuple; its elements follow. */
  def sequence(): Int = if (isSequence) count() else throw new Misfit(describe(), "a list")

  /** Skips one value. */
  def skip(): Unit = code match {
    case 'N' | 'T' | 'F' | '.' | 'S' => at += 1
    case 'i' => at += 5
    case 'I' | 'g' => at += 9
    case 'y' => at += 17
    case 'l' => val n = count(); at += 2 * math.abs(n)
    case 'u' | 's' | 't' => val n = count(); at += n
    case '[' | '(' | '<' | '>' => var n = count(); while (n > 0) { skip(); n -= 1 }
    case '{' =>
      at += 1
      while (bytes(at) != '0') { skip(); skip() }
      at += 1
    case other => throw new IllegalStateException(s"no marshalled value begins with '$other'")
  }

  /** Describes the next value for a message, without reading it. */
  def describe(): String = {
    val from = at
    try code match {
      case 'N' => "None"
      case 'T' => "the bool True"
      case 'F' => "the bool False"
      case 'i' | 'I' | 'l' => s"the int ${short(big().toString)}"
      case 'g' => s"the float ${double()}"
      case 'u' | 't' => val n = count(); s"the str '${short(new String(bytes, at, n, UTF_8))}'"
      case 's' => s"${count()} bytes"
      case '[' => s"a list of ${count()}"
      case '(' => s"a tuple of ${count()}"
      case '{' => "a dict"
      case '<' | '>' => "a set"
      case 'y' => "a complex number"
      case _ => "something else"
    } finally at = from
  }

  private def short(s: String): String = if (s.length <= MarshalIn.MaxShown) s else s.take(MarshalIn.MaxShown) + "…"
}

object MarshalIn {
  private val DigitBits = 15
  /** An int with this many digits fits into 64 bits, whatever they are. */
  private val SafeDigits = 4
  private val MaxShown = 60
}

/** A Python value that does not fit its declared type. */
final class Misfit(val found: String, val declared: String) extends RuntimeException {
  /** The path to the value within the row, as people write it. */
  var path: String = ""
  def within(field: String): Misfit = {
    path = if (path.isEmpty || path.startsWith("[")) field + path else s"$field.$path"
    this
  }
  override def getMessage: String =
    s"found $found where the declared type is $declared${if (path.isEmpty) "" else s" (field $path)"}"
  override def fillInStackTrace(): Throwable = this
}
