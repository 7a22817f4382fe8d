package brookmere.kernel.formats

import brookmere.kernel.core.BadBytes

/** The bytes before a value whose schema is in a registry: a zero and the schema's id in four bytes. */
object Frame {
  val Size = 5

  def id(data: Array[Byte]): Int = {
    if (data.length < Size) throw new BadBytes(
      s"expected the magic byte 0 and the id of a schema in front of the value, found ${data.length} bytes")
    if (data(0) != 0) throw new BadBytes(
      f"expected the magic byte 0 in front of the schema's id, found 0x${data(0)}%02x; " +
      "the value may have been written without a registry")
    ((data(1) & 0xff) << 24) | ((data(2) & 0xff) << 16) | ((data(3) & 0xff) << 8) | (data(4) & 0xff)
  }

  def put(out: Output, id: Int): Unit = {
    out.byte(0)
    out.fixed32(Integer.reverseBytes(id))
  }
}
