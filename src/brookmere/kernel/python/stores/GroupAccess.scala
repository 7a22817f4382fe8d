package brookmere.kernel.python.stores

import java.util.Arrays

import scala.collection.mutable.ArrayBuffer

import brookmere.kernel.core.Task
import brookmere.kernel.python.marshal.{MarshalIn, MarshalOut}
import brookmere.kernel.rows.{Rows, WindowKeys}
import brookmere.kernel.state._

/** A store with several rows per key (windows, sessions, versions), as Python sees it. */
private[python] final class GroupAccess(d: StoreDef) extends StoreAccess(d) {
  private val form = d.groups.get
  private val isVersioned = form.shape == Groups.Versions
  private val windows = new WindowKeys(d.key)
  private var store: GroupStore = _
  private var versions: Versions = _

  override def attach(task: Task): Unit = {
    store = task.groups(d.name)
    if (isVersioned) versions = new Versions(store, form.retention)
  }

  /** The latest time that was put in. */
  def time: Long = store.clock.time

  // Python put rows that are too old by now when they were not: they are stored, and not found.
  override def change(in: MarshalIn): Unit = {
    packed.clear()
    column(in, keys, keyIn, "key")
    val times = longs(in)
    val numbers = longs(in)
    column(in, values, valueIn, "value")
    in.sequence()
    var i = 0
    while (i < times.length) {
      val ts = in.long()
      val key = keys.row(i, keyRow)
      val value = values.row(i, valueRow)
      if (isVersioned) changed(versions.keep(key, value, times(i)))
      else {
        val g = store.part(key)
        var item = store.item(g, times(i), numbers(i))
        if (item == null && value != null) item = store.add(g, times(i), numbers(i))
        if (item == null) store.clock.advance(times(i))
        else {
          store.put(item, value, ts)
          changed(item)
        }
      }
      i += 1
    }
  }

  override def get(in: MarshalIn, out: MarshalOut): Unit = {
    var n = in.sequence()
    out.list(n)
    while (n > 0) {
      val k = key(in)
      val g = if (k == null) null else store.find(k)
      val from = if (g == null || isVersioned) 0 else g.from(store.oldest)
      var rows = 0
      var i = from
      while (g != null && i < g.size) { if (g(i).value != null) rows += 1; i += 1 }
      out.list(rows)
      i = from
      while (g != null && i < g.size) {
        val item = g(i)
        if (item.value != null) {
          out.tuple(4)
          out.int(item.time)
          out.int(item.number)
          valueOut.write(valueOf(item), out)
          out.int(timestamp(item))
        }
        i += 1
      }
      n -= 1
    }
  }

  private def valueOf(i: Item) = if (i.isDeletion) null else store.value(i)
  private def timestamp(i: Item) = if (isVersioned) i.time else i.ts

  override def scan(in: MarshalIn, out: MarshalOut): Unit =
    throw new IllegalStateException(s"the store ${d.name} is scanned by time")

  override def scanTimes(in: MarshalIn, out: MarshalOut): Unit = {
    val from = in.long()
    val to = in.long()
    val lower = bound(in)
    val upper = bound(in)
    val reverse = in.bool()
    val found = between(from, to, lower, upper)
    val rows = if (reverse) found.reverse else found
    out.tuple(5)
    out.list(rows.length)
    rows.foreach(i => keyOut.write(store.key(i.group), out))
    out.list(rows.length)
    rows.foreach(i => out.int(i.time))
    out.list(rows.length)
    rows.foreach(i => out.int(i.number))
    out.list(rows.length)
    rows.foreach(i => valueOut.write(valueOf(i), out))
    out.list(rows.length)
    rows.foreach(i => out.int(timestamp(i)))
  }

  /** Rows that can be found, in the order of Kafka Streams' stores: by segment, then by key, then by time. */
  private def between(from: Long, to: Long, lower: Array[Byte], upper: Array[Byte]): Array[Item] = {
    store.settle()
    val segment =
      if (form.retention == Groups.Forever) Long.MaxValue
      else math.max(form.retention / 2, GroupAccess.Segment)
    val found = new ArrayBuffer[(Long, Array[Byte], Item)]()
    store.rows().foreach { i =>
      if (i.time >= from && i.time <= to) {
        val k = order.bytes(store.key(i.group))
        if (within(k, lower, upper, null)) found += ((Math.floorDiv(i.time, segment), k, i))
      }
    }
    val sorted = found.toArray
    Arrays.sort(sorted, (a: (Long, Array[Byte], Item), b: (Long, Array[Byte], Item)) => {
      var c = java.lang.Long.compare(a._1, b._1)
      if (c == 0) c = Arrays.compareUnsigned(a._2, b._2)
      if (c == 0) c = java.lang.Long.compare(a._3.time, b._3.time)
      if (c == 0) c = java.lang.Long.compare(a._3.number, b._3.number)
      c
    })
    sorted.map(_._3)
  }

  override def count(): Long = { store.settle(); store.rows().size }

  override protected def logRow(e: Entry): Unit = {
    val i = e.asInstanceOf[Item]
    keyRow.pointTo(i.group.key, Rows.Base, i.group.key.length)
    log.receive(GroupStore.shown(d, windows, keyRow, i), valueOf(i), null, timestamp(i))
  }
}

private[python] object GroupAccess {
  /** The shortest span of time that Kafka Streams keeps in a segment. */
  private val Segment = 60000L
}
