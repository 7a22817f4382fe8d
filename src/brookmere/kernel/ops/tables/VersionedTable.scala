package brookmere.kernel.ops.tables

import brookmere.kernel.core._
import brookmere.kernel.state.{Item, Versions}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** Keeps the rows of a table together with their earlier versions. */
abstract class VersionedTable(id: Int, name: String, store: String, val history: Long)
    extends Processor(id, name) with View with HasSnapshot {
  @transient private[ops] var versions: Versions = _
  override def attach(task: Task): Unit = { super.attach(task); versions = new Versions(task.groups(store), history) }
  override def keptIn: String = store
  override def snapshot(to: (UnsafeRow, UnsafeRow, Long) => Unit): Iterator[Unit] =
    versions.all().map(i => to(versions.key(i), if (i.isDeletion) null else versions.value(i), i.time))
  override def look(): Lookup = new VersionedLookup(this)
}

/** Reads a stream as a versioned table: an update is placed by its time, and one that is too old is dropped. */
final class VersionedSource(id: Int, name: String, store: String, span: Long, sendOld: Boolean)
    extends VersionedTable(id, name, store, span) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    if (key == null) drop()
    else {
      val latest = versions.latest(key)
      val before = if (latest == null || !sendOld) null else versions.value(latest)
      val put = versions.put(key, value, ts)
      if (put == Versions.Refused) drop()
      else {
        val outer = task.isLatest
        task.isLatest = put == Versions.Latest
        try forward(key, value, before, ts)
        finally task.isLatest = outer
      }
    }
}

/** A copy of a versioned table of an earlier stage. */
final class VersionedCopy(id: Int, name: String, store: String, span: Long)
    extends VersionedTable(id, name, store, span) {
  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit = versions.put(key, value, ts)
}

/** Finds rows of a versioned table. */
private[ops] final class VersionedLookup(of: VersionedTable) extends Lookup {
  override def isVersioned: Boolean = true
  override def get(key: UnsafeRow): UnsafeRow = shown(of.versions.latest(key))
  override def get(key: UnsafeRow, at: Long): UnsafeRow = shown(of.versions.at(key, at))

  private def shown(i: Item): UnsafeRow =
    if (i == null) null
    else {
      ts = i.time
      row(i.value, of.versions.fields)
    }
}
