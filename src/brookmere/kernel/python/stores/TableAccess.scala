package brookmere.kernel.python.stores

import java.util.Arrays

import brookmere.kernel.core.Task
import brookmere.kernel.python.marshal.{MarshalIn, MarshalOut}
import brookmere.kernel.rows.Rows
import brookmere.kernel.state.{Entry, Store, StoreDef}

/** A store with one row per key, as Python sees it. */
private[python] final class TableAccess(d: StoreDef) extends StoreAccess(d) {
  private var store: Store = _

  override def attach(task: Task): Unit = store = task.store(d.name)

  override def change(in: MarshalIn): Unit = {
    packed.clear()
    column(in, keys, keyIn, "key")
    column(in, values, valueIn, "value")
    val n = in.sequence()
    var i = 0
    while (i < n) {
      val e = store.entry(keys.row(i, keyRow))
      store.put(e, values.row(i, valueRow), in.long())
      changed(e)
      i += 1
    }
  }

  override def get(in: MarshalIn, out: MarshalOut): Unit = {
    var n = in.sequence()
    out.list(n)
    while (n > 0) {
      val k = key(in)
      val e = if (k == null) null else store.find(k)
      if (e == null) out.none()
      else {
        out.tuple(2)
        valueOut.write(store.value(e), out)
        out.int(e.ts)
      }
      n -= 1
    }
  }

  override def scan(in: MarshalIn, out: MarshalOut): Unit = {
    val lower = bound(in)
    val upper = bound(in)
    val beginning = prefix(in)
    val reverse = in.bool()
    store.settle()
    val found = store.each().map(e => (order.bytes(store.key(e)), e))
      .filter(f => within(f._1, lower, upper, beginning)).toArray
    Arrays.sort(found, (a: (Array[Byte], Entry), b: (Array[Byte], Entry)) => Arrays.compareUnsigned(a._1, b._1))
    val rows = if (reverse) found.reverse else found
    out.tuple(3)
    out.list(rows.length)
    rows.foreach(r => keyOut.write(store.key(r._2), out))
    out.list(rows.length)
    rows.foreach(r => valueOut.write(store.value(r._2), out))
    out.list(rows.length)
    rows.foreach(r => out.int(r._2.ts))
  }

  override def scanTimes(in: MarshalIn, out: MarshalOut): Unit =
    throw new IllegalStateException(s"the store ${d.name} cannot be scanned by time")

  override def count(): Long = { store.settle(); store.each().size }

  override protected def logRow(e: Entry): Unit = {
    keyRow.pointTo(e.key, Rows.Base, e.key.length)
    log.receive(keyRow, store.value(e), null, e.ts)
  }
}
