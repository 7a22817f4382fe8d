package brookmere.kernel.python.marshal

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Arrays

import org.apache.spark.sql.types.StructType

/**
 * Reads a dict by the names of its fields, or a tuple or list by position. Values of variable size are written in the
 * order of the fields, whatever the order of the dict: equal keys have equal bytes.
 */
private[python] final class StructRead(s: StructType) extends MarshalRead(8) {
  private val size = s.length
  private[python] val reads: Array[MarshalRead] = s.fields.map(f => MarshalRead.of(f.dataType))
  private val names: Array[Array[Byte]] = s.fieldNames.map(_.getBytes(UTF_8))
  private val bits = ((size + 63) >> 6) * 8
  private val fixed = bits + 8 * size

  override def read(in: MarshalIn, out: PackedRows, slot: Int, base: Int): Unit = {
    val at = struct(in, out)
    out.put(slot, ((at - base).toLong << 32) | (out.end - at))
  }

  /** Appends the struct to the rows and returns where it begins. */
  def struct(in: MarshalIn, out: PackedRows): Int = {
    val at = out.end
    in.code match {
      case '{' => if (!inOrder(in, out, at)) byName(in, out, at)
      case '[' | '(' => byPlace(in, out, at)
      case _ => throw new Misfit(in.describe(), s.sql)
    }
    at
  }

  private def field(in: MarshalIn, out: PackedRows, at: Int, i: Int): Unit =
    if (in.takeNone()) missing(out, at, i)
    else try reads(i).read(in, out, at + bits + 8 * i, at) catch { case m: Misfit => throw m.within(s.fieldNames(i)) }

  private def missing(out: PackedRows, at: Int, i: Int): Unit = {
    out.setBit(at, i)
    reads(i).none(out, at + bits + 8 * i, at)
  }

  /** Reads a dict with its fields in our order; false, with nothing read, if the order differs. */
  private def inOrder(in: MarshalIn, out: PackedRows, at: Int): Boolean = {
    val from = in.at
    out.reserve(fixed)
    in.at += 1
    var next = 0
    while (in.bytes(in.at) != '0') {
      val named = in.at
      val i = place(in, next)
      if (i < next) {
        // Unknown, or after a field that comes later: this attempt is discarded.
        if (i < 0) { in.at = named; throw unknown(in) }
        in.at = from
        out.end = at
        return false
      }
      while (next < i) { missing(out, at, next); next += 1 }
      field(in, out, at, i)
      next = i + 1
    }
    in.at += 1
    while (next < size) { missing(out, at, next); next += 1 }
    true
  }

  private def byName(in: MarshalIn, out: PackedRows, at: Int): Unit = {
    val found = new Array[Int](size)
    in.at += 1
    while (in.bytes(in.at) != '0') {
      val named = in.at
      val i = place(in, 0)
      if (i < 0) { in.at = named; throw unknown(in) }
      found(i) = in.at
      in.skip()
    }
    val end = in.at + 1
    out.reserve(fixed)
    var i = 0
    while (i < size) {
      if (found(i) == 0) missing(out, at, i) else { in.at = found(i); field(in, out, at, i) }
      i += 1
    }
    in.at = end
  }

  private def byPlace(in: MarshalIn, out: PackedRows, at: Int): Unit = {
    val what = in.describe()
    val n = in.count()
    if (n != size) throw new Misfit(what, s.sql)
    out.reserve(fixed)
    var i = 0
    while (i < size) { field(in, out, at, i); i += 1 }
  }

  /** Reads a name and returns the field with that name, trying from `guess` on; -1 if there is none. */
  private def place(in: MarshalIn, guess: Int): Int = {
    val c = in.code
    if (c != 'u' && c != 't') return -1
    val n = in.count()
    val from = in.at
    in.at += n
    var i = guess
    while (i < size) {
      if (Arrays.equals(names(i), 0, names(i).length, in.bytes, from, from + n)) return i
      i += 1
    }
    i = 0
    while (i < guess) {
      if (Arrays.equals(names(i), 0, names(i).length, in.bytes, from, from + n)) return i
      i += 1
    }
    -1
  }

  private def unknown(in: MarshalIn): Misfit =
    if (in.code != 'u') new Misfit(s"a dict with the key ${in.describe()}", s.sql)
    else {
      val name = in.text()
      val near = Nearest(name, s.fieldNames)
      new Misfit(s"a dict with the unknown field '$name'" + (if (near == null) "" else s" (is it '$near'?)"), s.sql)
    }
}
