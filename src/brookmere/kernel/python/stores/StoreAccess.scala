package brookmere.kernel.python.stores

import java.util.{Arrays, LinkedHashSet}

import brookmere.kernel.core.{Processor, Task}
import brookmere.kernel.python.marshal.{MarshalIn, MarshalOut, MarshalRow, Misfit, PackedRows, RowColumn, UnmarshalRow}
import brookmere.kernel.rows.{KeyOrder, Rows}
import brookmere.kernel.state.{Entry, StoreDef}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** How Python reads and changes a store. Keys and values are as on the wire. */
private[python] abstract class StoreAccess(val d: StoreDef) {
  protected val keyOut = new MarshalRow(d.key)
  protected val valueOut = new MarshalRow(d.value)
  protected val keyIn = new UnmarshalRow(d.key)
  protected val valueIn = new UnmarshalRow(d.value)
  protected val keyRow = new UnsafeRow(d.key.fields)
  protected val valueRow = new UnsafeRow(d.value.fields)
  protected val order = new KeyOrder(d.key)
  protected val packed = new PackedRows
  protected val keys = new RowColumn(packed)
  protected val values = new RowColumn(packed)

  /** Receives the changes of rows; null without a changelog. */
  var log: Processor = null
  private val unlogged = new LinkedHashSet[Entry]()

  def attach(task: Task): Unit

  /** Applies changes: columns of keys, of what distinguishes rows of a key, of values, of times. */
  def change(in: MarshalIn): Unit

  /** Writes the rows of the keys in the message. */
  def get(in: MarshalIn, out: MarshalOut): Unit

  /** Writes all rows with keys between two, both inclusive, or with a prefix. */
  def scan(in: MarshalIn, out: MarshalOut): Unit
  def scanTimes(in: MarshalIn, out: MarshalOut): Unit
  def count(): Long

  /** Logs one row. */
  protected def logRow(e: Entry): Unit

  protected final def changed(e: Entry): Unit = if (log != null) unlogged.add(e)

  /** Logs what has changed since the last call. */
  def writeLog(): Unit = if (!unlogged.isEmpty) {
    unlogged.forEach(logRow(_))
    unlogged.clear()
  }

  protected final def column(in: MarshalIn, into: RowColumn, reader: UnmarshalRow, what: String): Unit = {
    into.clear()
    var n = in.sequence()
    while (n > 0) {
      try into.read(in, reader)
      catch {
        case m: Misfit =>
          throw new IllegalStateException(s"the store ${d.name} cannot keep a $what: ${m.getMessage}")
      }
      n -= 1
    }
  }

  protected final def longs(in: MarshalIn): Array[Long] = {
    val all = new Array[Long](in.sequence())
    var i = 0
    while (i < all.length) { all(i) = in.long(); i += 1 }
    all
  }

  /** The next key; null for None. */
  protected final def key(in: MarshalIn): UnsafeRow = {
    packed.clear()
    val at = keyIn.read(in, packed)
    if (at < 0) null else { keyRow.pointTo(packed.bytes, Rows.Base + at, packed.end - at); keyRow }
  }

  /** The sort order of the next key; null for None. */
  protected final def bound(in: MarshalIn): Array[Byte] = {
    val k = key(in)
    if (k == null) null else order.bytes(k)
  }

  /** The bytes that a key must begin with: a text or bytes as they are, another key by its order; null for None. */
  protected final def prefix(in: MarshalIn): Array[Byte] = in.code match {
    case 's' => in.binary()
    case 'u' => in.text().getBytes(java.nio.charset.StandardCharsets.UTF_8)
    case _ => bound(in)
  }

  protected final def within(k: Array[Byte], lower: Array[Byte], upper: Array[Byte], prefix: Array[Byte]): Boolean =
    (lower == null || Arrays.compareUnsigned(k, lower) >= 0) &&
      (upper == null || Arrays.compareUnsigned(k, upper) <= 0) &&
      (prefix == null || (k.length >= prefix.length && Arrays.equals(k, 0, prefix.length, prefix, 0, prefix.length)))
}

private[python] object StoreAccess {
  def apply(d: StoreDef): StoreAccess = if (d.groups.isEmpty) new TableAccess(d) else new GroupAccess(d)
}
