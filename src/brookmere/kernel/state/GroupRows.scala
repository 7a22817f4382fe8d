package brookmere.kernel.state

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.{ArrayList, Arrays, TreeMap}

import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Groups that the previous batch has used, and which chunks of keys the state has for which bucket. */
final class GroupCache {
  val groups = new EntryTable
  val chunks = new TreeMap[java.lang.Long, ArrayList[java.lang.Long]]()
  var next = 0L
  var loaded = false
}

/** Groups too large for memory: every row is a row of the state, and so are the keys of the wheel. */
final class GroupRows(d: StoreDef, backend: Backend, task: Int, times: Times, cache: GroupCache, maxBytes: Long)
    extends GroupStore(d, cache.groups, times.clock(Clock.ofStore(d.name), Clock.NoTime)) {
  private val rowsOut = new ItemRows(task)
  private val wheelRows = new StateRows(task)
  private val wheelFamily = Family.wheelName(d.name)
  private val width = Expiry.width(form)
  private val fresh = new TreeMap[java.lang.Long, ArrayList[Array[Byte]]]()
  if (!cache.loaded) {
    backend.rows(wheelFamily).foreach { case (k, _) =>
      if (StateRows.taskOf(k) == task) {
        val at = StateRows.keyOf(k, 2)
        known(at.getLong(0)).add(at.getLong(1))
        cache.next = math.max(cache.next, at.getLong(1) + 1)
      }
    }
    cache.loaded = true
  }
  private def known(bucket: Long): ArrayList[java.lang.Long] =
    cache.chunks.computeIfAbsent(bucket, _ => new ArrayList[java.lang.Long]())

  override def find(key: UnsafeRow): Group = {
    val g = group(key)
    if (g.count == 0) null else g
  }

  override def group(key: UnsafeRow): Group = { val g = part(key); if (!g.whole) fill(g); g }

  override def part(key: UnsafeRow): Group = {
    val hash = EntryTable.hash(key)
    var g = groups.find(key, hash).asInstanceOf[Group]
    if (g == null) {
      g = new Group(Rows.bytes(key), hash)
      // It is worth knowing that a key has no rows, too.
      g.known = true
      groups.add(g)
    }
    g.used = batch
    g
  }

  override def seek(key: UnsafeRow): Group = part(key)

  override def forget(before: Long): Unit = {
    while (!cache.chunks.isEmpty && (cache.chunks.firstKey + 1) * width <= before) {
      val gone = cache.chunks.pollFirstEntry()
      gone.getValue.forEach { n =>
        keysOf(gone.getKey, n).foreach(unregister)
        backend.remove(wheelFamily, wheelRows.key(Wheel.key(gone.getKey, n)))
      }
    }
    while (!fresh.isEmpty && (fresh.firstKey + 1) * width <= before) {
      fresh.pollFirstEntry().getValue.forEach(unregister(_))
    }
  }

  private def unregister(key: Array[Byte]): Unit = {
    val k = Rows.of(key, keyFields)
    val g = groups.find(k, EntryTable.hash(k)).asInstanceOf[Group]
    if (g != null) g.bucket = Long.MaxValue
  }

  override def item(g: Group, time: Long, number: Long): Item = {
    val here = super.item(g, time, number)
    if (here != null || g.whole) here
    else {
      val found = backend.get(d.name, rowsOut.key(g.key, time, number, null))
      if (found == null) null
      else {
        val i = filled(new Item(g, time, number, null), found)
        place(g, i)
        i
      }
    }
  }

  /** Reads a row of the state as a row of a group, without adding it to the group. */
  private def read(g: Group, key: UnsafeRow, value: UnsafeRow): Item = {
    val item = key.getStruct(2, if (form.sub.isEmpty) 2 else 3)
    val sub = form.sub.map(t => Rows.bytes(item.getStruct(2, t.fields))).orNull
    filled(new Item(g, item.getLong(0), item.getLong(1), sub), value)
  }

  private def filled(i: Item, value: UnsafeRow): Item = {
    i.ts = value.getLong(0)
    i.value = Rows.bytes(value.getStruct(1, valueFields))
    i
  }

  /** Reads the rows of a group that are not in memory yet. */
  private def fill(g: Group): Unit = {
    val here = new java.util.HashSet[String]()
    var n = 0
    while (n < g.count) { here.add(name(g.items(n))); n += 1 }
    backend.rowsOf(d.name, wheelRows.key(g.key)).foreach { case (k, v) =>
      val i = read(g, k, v)
      if (here.isEmpty || !here.contains(name(i))) place(g, i)
    }
    g.whole = true
  }
  private def name(i: Item): String =
    s"${i.time}/${i.number}/${if (i.sub == null) "" else new String(i.sub, ISO_8859_1)}"

  /** Takes a row over from a store in memory. */
  def take(from: Item): Unit = {
    val g = part(Rows.of(from.group.key, keyFields))
    val i = new Item(g, from.time, from.number, from.sub)
    i.value = from.value
    i.ts = from.ts
    i.dirty = true
    place(g, i)
    dirty.add(i)
    if (form.retention != Groups.Forever || form.timed) register(g, from.time)
  }

  override protected def register(g: Group, time: Long): Unit = {
    val b = Math.floorDiv(time, width)
    if (b != g.bucket) {
      g.bucket = b
      fresh.computeIfAbsent(b, _ => new ArrayList[Array[Byte]]()).add(g.key)
    }
  }

  override protected def groupsBetween(from: Long, to: Long): Iterator[Group] =
    if (from > to) Iterator.empty
    else {
      val keys = new java.util.LinkedHashMap[java.nio.ByteBuffer, Array[Byte]]()
      def remember(k: Array[Byte]): Unit = keys.put(java.nio.ByteBuffer.wrap(k), k)
      val first = Math.floorDiv(from, width)
      val last = Math.floorDiv(to, width)
      cache.chunks.subMap(first, true, last, true)
        .forEach((b, numbers) => numbers.forEach(n => keysOf(b, n).foreach(remember)))
      fresh.subMap(first, true, last, true).values.forEach(_.forEach(remember(_)))
      import scala.jdk.CollectionConverters._
      keys.values.iterator.asScala.map(k => group(Rows.of(k, keyFields)))
    }

  private def keysOf(bucket: Long, number: Long): Iterator[Array[Byte]] = {
    val found = backend.get(wheelFamily, wheelRows.key(Wheel.key(bucket, number)))
    if (found == null) Iterator.empty else Wheel.unpack(StateRows.valueOf(found, 1).getBinary(0))
  }

  override def firstTime: Long = {
    val a = if (cache.chunks.isEmpty) Long.MaxValue else cache.chunks.firstKey * width
    val b = if (fresh.isEmpty) Long.MaxValue else fresh.firstKey * width
    math.min(a, b)
  }

  override def flush(): Unit = {
    dropExpired()
    var n = 0
    val changed = dirty.toArray(new Array[Item](0))
    Arrays.sort(changed, (a: Item, b: Item) => Arrays.compareUnsigned(a.group.key, b.group.key))
    while (n < changed.length) {
      val i = changed(n)
      val key = rowsOut.key(i.group.key, i.time, i.number, i.sub)
      if (i.value == null) {
        backend.remove(d.name, key)
        groups.bytes -= i.held
        i.group.compact()
      } else backend.put(d.name, key, rowsOut.value(i.value, i.ts, i.time, i.number))
      i.dirty = false
      i.old = null
      n += 1
    }
    dirty.clear()
    fresh.forEach { (bucket, keys) =>
      val number = cache.next
      cache.next += 1
      val packed = Wheel.pack(keys)
      val value = wheelRows.value(Rows.single(packed, Rows.Base, packed.length), 0L)
      backend.put(wheelFamily, wheelRows.key(Wheel.key(bucket, number)), value)
      known(bucket).add(number)
    }
    fresh.clear()
    if (groups.bytes > maxBytes) groups.retain(_.used == batch)
    if (groups.bytes > maxBytes) groups.retain(_ => false)
  }

  override def settle(): Unit = flush()

  private def dropExpired(): Unit = if (form.retention != Groups.Forever) {
    val bound = droppable
    while (!cache.chunks.isEmpty && (cache.chunks.firstKey + 1) * width <= bound) {
      val due = cache.chunks.pollFirstEntry()
      due.getValue.forEach { n =>
        keysOf(due.getKey, n).foreach { k =>
          val g = group(Rows.of(k, keyFields))
          expired(g, bound)
          g.bucket = Long.MaxValue
        }
        backend.remove(wheelFamily, wheelRows.key(Wheel.key(due.getKey, n)))
      }
    }
  }

  override def rows(): Iterator[Item] =
    backend.rows(d.name).filter(r => StateRows.taskOf(r._1) == task).map { case (k, v) =>
      read(new Group(Rows.bytes(k.getStruct(1, keyFields)), 0), k, v)
    }.filter(canBeFound)
}

/** Builds the state rows of a store with several rows per key. */
final class ItemRows(task: Int) {
  private var keyBytes = new Array[Byte](160)
  private val keyRow = new UnsafeRow(3)
  private var valueBytes = new Array[Byte](160)
  private val valueRow = new UnsafeRow(4)

  def key(k: Array[Byte], time: Long, number: Long, sub: Array[Byte]): UnsafeRow = {
    val itemSize = if (sub == null) 24 else 32 + sub.length
    val at = 48 + k.length
    if (keyBytes.length < at + itemSize) keyBytes = new Array[Byte]((at + itemSize) * 2)
    val b = keyBytes
    Platform.putLong(b, Rows.Base, 0L)
    Platform.putLong(b, Rows.Base + 8, (32L << 32) | 16L)
    Platform.putLong(b, Rows.Base + 16, (48L << 32) | k.length)
    Platform.putLong(b, Rows.Base + 24, (at.toLong << 32) | itemSize)
    Platform.putLong(b, Rows.Base + 32, 0L)
    Platform.putLong(b, Rows.Base + 40, task & 0xffffffffL)
    System.arraycopy(k, 0, b, 48, k.length)
    Platform.putLong(b, Rows.Base + at, 0L)
    Platform.putLong(b, Rows.Base + at + 8, time)
    Platform.putLong(b, Rows.Base + at + 16, number)
    if (sub != null) {
      Platform.putLong(b, Rows.Base + at + 24, (32L << 32) | sub.length)
      System.arraycopy(sub, 0, b, at + 32, sub.length)
    }
    keyRow.pointTo(b, Rows.Base, at + itemSize)
    keyRow
  }

  def value(v: Array[Byte], ts: Long, time: Long, number: Long): UnsafeRow = {
    if (valueBytes.length < 40 + v.length) valueBytes = new Array[Byte]((40 + v.length) * 2)
    val b = valueBytes
    Platform.putLong(b, Rows.Base, 0L)
    Platform.putLong(b, Rows.Base + 8, ts)
    Platform.putLong(b, Rows.Base + 16, (40L << 32) | v.length)
    Platform.putLong(b, Rows.Base + 24, time)
    Platform.putLong(b, Rows.Base + 32, number)
    System.arraycopy(v, 0, b, 40, v.length)
    valueRow.pointTo(b, Rows.Base, 40 + v.length)
    valueRow
  }
}
