package brookmere.kernel.state

import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** All groups of a store in memory, by key and by time, and the position of their log. */
final class GroupTable(form: Groups) extends LogPlace {
  val groups = new EntryTable
  val wheel = new Wheel(Expiry.width(form))
}

/** The granularity of time at which a store looks for rows to drop. */
object Expiry {
  def width(form: Groups): Long =
    if (form.timed || form.retention == Groups.Forever) 1L else math.max(1L, form.retention / 4)
}

/** Groups that fit in memory: all in a map, with a log of changed rows in the state. */
final class GroupLog(d: StoreDef, backend: Backend, task: Int, times: Times, table: GroupTable, maxBytes: Long)
    extends GroupStore(d, table.groups, times.clock(Clock.ofStore(d.name), Clock.NoTime)) {
  private val log = new ChunkLog(d.name, backend, task, table)
  private val wheel = table.wheel
  log.load(GroupLog.read(_)(apply))

  override def find(key: UnsafeRow): Group = groups.find(key, EntryTable.hash(key)).asInstanceOf[Group]

  override def group(key: UnsafeRow): Group = {
    val hash = EntryTable.hash(key)
    val g = groups.find(key, hash)
    if (g != null) g.asInstanceOf[Group] else new Group(Rows.bytes(key), hash)
  }

  override def part(key: UnsafeRow): Group = group(key)

  override def seek(key: UnsafeRow): Group = find(key)

  override def forget(before: Long): Unit = {
    var gone = wheel.take(before)
    while (gone != null) {
      gone.forEach(g => g.bucket = Long.MaxValue)
      gone = wheel.take(before)
    }
  }

  override protected def register(g: Group, time: Long): Unit = {
    val b = wheel.bucketOf(time)
    if (if (form.timed) b != g.bucket else b < g.bucket) { g.bucket = b; wheel.add(b, g) }
  }

  override protected def groupsBetween(from: Long, to: Long): Iterator[Group] = wheel.between(from, to)

  override def firstTime: Long = wheel.firstTime

  override def flush(): Unit = {
    dropExpired()
    if (!dirty.isEmpty) {
      if (groups.bytes > maxBytes) move()
      else {
        val changed = dirty.toArray(new Array[Item](0))
        changed.foreach(write)
        log.close()
        changed.foreach(settle)
        if (log.isLong(groups.bytes)) log.rewrite(everything.foreach(write))
      }
      dirty.clear()
      log.writeHead()
    }
  }

  private def settle(i: Item): Unit = {
    i.dirty = false
    i.old = null
    if (i.value == null) {
      val g = i.group
      groups.bytes -= i.held
      g.compact()
      if (g.count == 0 && g.known) { g.known = false; groups.remove(g) }
    }
  }

  private def dropExpired(): Unit = if (form.retention != Groups.Forever) {
    val bound = droppable
    var due = wheel.take(bound)
    while (due != null) {
      due.forEach { g =>
        val mine = form.timed || (g.bucket + 1) * wheel.width <= bound
        if (mine) {
          expired(g, bound)
          var i = 0
          while (i < g.count && g.items(i).value == null) i += 1
          // A group goes with its last row; a later row creates a new one.
          g.bucket = Long.MaxValue
          // A version may be older than that; it goes when the next version is.
          while (i < g.count && g.items(i).time < bound) i += 1
          if (!form.timed && i < g.count) register(g, g.items(i).time)
        }
      }
      due = wheel.take(bound)
    }
  }

  private def everything: Iterator[Item] =
    groups.toArray.iterator.flatMap { e =>
      val g = e.asInstanceOf[Group]
      g.items.iterator.take(g.count).filter(_.value != null)
    }

  override def rows(): Iterator[Item] = everything.filter(canBeFound)

  /** Writes every row by itself and abandons the log. From the next batch on the store has single rows. */
  private def move(): Unit = {
    val rows = new GroupRows(d, backend, task, times, new GroupCache, Long.MaxValue)
    everything.foreach(i => rows.take(i))
    rows.flush()
    log.moveAway()
    groups.retain(_ => false)
    wheel.clear()
  }

  /** A row in a chunk: sizes of key, sub (-1: none) and value (-1: no row), ts, time, number, then the bytes. */
  private def write(i: Item): Unit = {
    log.int(i.group.key.length)
    log.int(if (i.sub == null) -1 else i.sub.length)
    log.int(if (i.value == null) -1 else i.value.length)
    log.long(i.ts)
    log.long(i.time)
    log.long(i.number)
    log.data(i.group.key)
    if (i.sub != null) log.data(i.sub)
    if (i.value != null) log.data(i.value)
    log.endEntry()
  }

  private def apply(key: Array[Byte], sub: Array[Byte], value: Array[Byte], ts: Long, time: Long,
      number: Long): Unit = {
    val k = Rows.of(key, keyFields)
    val hash = EntryTable.hash(k)
    val known = groups.find(k, hash).asInstanceOf[Group]
    val found = if (known == null) null else GroupLog.exact(known, time, number, sub)
    if (value == null) {
      if (found != null) {
        groups.bytes -= found.held
        found.value = null
        known.hasHoles = true
        known.compact()
        if (known.count == 0) { known.known = false; groups.remove(known) }
      }
    } else {
      val g = if (known == null) new Group(key, hash) else known
      if (found == null) {
        val i = new Item(g, time, number, sub)
        i.value = value
        i.ts = ts
        place(g, i)
        if (form.retention != Groups.Forever || form.timed) register(g, time)
      } else {
        groups.bytes += value.length - found.value.length
        found.value = value
        found.ts = ts
      }
    }
  }
}

object GroupLog {
  private def exact(g: Group, time: Long, number: Long, sub: Array[Byte]): Item = {
    var i = g.from(time)
    while (i < g.count && g.items(i).time == time) {
      val o = g.items(i)
      if (o.number == number && java.util.Arrays.equals(o.sub, sub)) return o
      i += 1
    }
    null
  }

  /** Passes the rows of a chunk, in order, to `f`: key, sub, value (null removes the row), ts, time, number. */
  def read(chunk: Array[Byte])(f: (Array[Byte], Array[Byte], Array[Byte], Long, Long, Long) => Unit): Unit = {
    val c = new ChunkLog.Cursor(chunk)
    while (c.hasNext) {
      val kn = c.int()
      val sn = c.int()
      val vn = c.int()
      val ts = c.long()
      val time = c.long()
      val number = c.long()
      f(c.data(kn), c.data(sn), c.data(vn), ts, time, number)
    }
  }
}
