package brookmere.kernel.state

import java.util.IdentityHashMap

import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Views of stores for a dry run: they show the rows of the stores, and their changes are never written. */
final class Overlays {
  private val tables = new IdentityHashMap[Store, Store]()
  private val groups = new IdentityHashMap[GroupStore, GroupStore]()

  def over(store: Store): Store = tables.computeIfAbsent(store, s => new OverlayTable(s))
  def over(store: GroupStore): GroupStore = groups.computeIfAbsent(store, s => new OverlayGroups(s))
}

private final class OverlayTable(under: Store)
    extends Store(under.name, under.keyFields, under.valueFields, new EntryTable) {
  override def entry(key: UnsafeRow): Entry = {
    val hash = EntryTable.hash(key)
    val known = entries.find(key, hash)
    if (known != null) known
    else {
      val e = newEntry(key, hash)
      val below = under.find(key)
      if (below != null) { e.value = below.value; e.ts = below.ts }
      e
    }
  }

  override def find(key: UnsafeRow): Entry = { val e = entry(key); if (e.value == null) null else e }
  override def all(): Iterator[Entry] = throw new UnsupportedOperationException("a dry run reads single rows")
  override def flush(): Unit = {}
}

private final class OverlayGroups(under: GroupStore)
    extends GroupStore(under.d, new EntryTable, new Clock(under.clock.name, under.clock.time)) {
  /** By group, the one below it, where only the rows that are asked for are copied. */
  private val below = new IdentityHashMap[Group, Group]()

  override def group(key: UnsafeRow): Group = {
    val hash = EntryTable.hash(key)
    val known = groups.find(key, hash)
    if (known != null) known.asInstanceOf[Group]
    else {
      val g = added(key, hash)
      val found = under.find(key)
      var i = 0
      while (found != null && i < found.size) { if (found(i).value != null) copy(found(i), g); i += 1 }
      g
    }
  }

  override def part(key: UnsafeRow): Group = {
    val hash = EntryTable.hash(key)
    val known = groups.find(key, hash)
    if (known != null) known.asInstanceOf[Group]
    else {
      val g = added(key, hash)
      below.put(g, under.part(key))
      g
    }
  }

  override def item(g: Group, time: Long, number: Long): Item = {
    val here = super.item(g, time, number)
    val part = if (here == null) below.get(g) else null
    if (part == null) here
    else {
      val found = under.item(part, time, number)
      if (found == null || found.value == null) null else copy(found, g)
    }
  }

  private def added(key: UnsafeRow, hash: Int): Group = {
    val g = new Group(Rows.bytes(key), hash)
    g.known = true
    groups.add(g)
    g
  }

  private def copy(found: Item, into: Group): Item = {
    val i = new Item(into, found.time, found.number, found.sub)
    i.value = found.value
    i.ts = found.ts
    place(into, i)
    i
  }

  override def find(key: UnsafeRow): Group = group(key)
  override def seek(key: UnsafeRow): Group = part(key)
  override def forget(before: Long): Unit = {}
  override protected def register(g: Group, time: Long): Unit = {}
  override protected def groupsBetween(from: Long, to: Long): Iterator[Group] = none()
  override def firstTime: Long = none()
  override def rows(): Iterator[Item] = none()
  override def flush(): Unit = {}
  private def none() = throw new UnsupportedOperationException("a dry run reads the rows of single keys")
}
