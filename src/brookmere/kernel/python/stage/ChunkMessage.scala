package brookmere.kernel.python.stage

import brookmere.kernel.python.marshal.MarshalOut
import brookmere.kernel.rows.{Layout, Rows}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Writes a chunk's rows for the worker as columns: nodes, keys, values, times, headers, sources, seqs. */
private[python] final class ChunkMessage(entries: Entries, stage: Int) {
  private val row = new UnsafeRow(Layout.Fields)
  private val packed = new UnsafeRow(1)

  def write(chunk: Chunk, task: Int, out: MarshalOut): Unit = {
    out.begin()
    out.tuple(9)
    out.int(stage)
    out.int(task)
    nodes(chunk, out)
    column(chunk, out)(entries.writeKey(_, out))
    column(chunk, out)(entries.writeValue(_, out))
    column(chunk, out)(r => out.int(r.getLong(Layout.Ts)))
    if (hasHeaders(chunk)) column(chunk, out)(headers(_, out)) else out.none()
    column(chunk, out)(r => out.int(r.getInt(Layout.Source)))
    column(chunk, out)(r => out.int(r.getLong(Layout.Seq)))
  }

  private def column(chunk: Chunk, out: MarshalOut)(one: UnsafeRow => Unit): Unit = {
    out.list(chunk.askedCount)
    val n = chunk.count
    var i = 0
    while (i < n) { if (chunk.isAsked(i)) one(chunk.row(i, row)); i += 1 }
  }

  private def nodes(chunk: Chunk, out: MarshalOut): Unit = {
    var first = 0
    while (!chunk.isAsked(first)) first += 1
    val node = entries.number(chunk.row(first, row))
    var i = first
    while (i < chunk.count && (!chunk.isAsked(i) || entries.number(chunk.row(i, row)) == node)) i += 1
    if (i == chunk.count) out.int(node) else column(chunk, out)(r => out.int(entries.number(r)))
  }

  private def hasHeaders(chunk: Chunk): Boolean = {
    var i = 0
    while (i < chunk.count && (!chunk.isAsked(i) || chunk.row(i, row).isNullAt(Layout.Headers))) i += 1
    i < chunk.count
  }

  private def headers(r: UnsafeRow, out: MarshalOut): Unit = {
    val h = Rows.slice(r, Layout.Headers, packed)
    if (h == null) out.none()
    else {
      val list = h.getArray(0)
      val n = list.numElements()
      out.list(n)
      var i = 0
      while (i < n) {
        val one = list.getStruct(i, 2)
        out.tuple(2)
        if (one.isNullAt(0)) out.none()
        else { val s = one.getUTF8String(0); out.text(s.getBaseObject, s.getBaseOffset, s.numBytes) }
        if (one.isNullAt(1)) out.none() else out.binary(one.getBinary(1))
        i += 1
      }
    }
  }
}
