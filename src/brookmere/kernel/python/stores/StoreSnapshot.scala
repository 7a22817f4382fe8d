package brookmere.kernel.python.stores

import brookmere.kernel.core.{Processor, Task}
import brookmere.kernel.ops.tables.HasSnapshot
import brookmere.kernel.rows.WindowKeys
import brookmere.kernel.state._

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/** A store that Python uses, as its changelog needs it: with a snapshot of all rows. */
final class StoreSnapshot(id: Int, store: StoreDef) extends Processor(id, store.name) with HasSnapshot {
  private val windows = new WindowKeys(store.key)
  @transient private var rows: Kept = _
  override def attach(task: Task): Unit = {
    super.attach(task)
    rows = if (store.groups.isEmpty) task.store(store.name) else task.groups(store.name)
  }

  override def process(key: UnsafeRow, value: UnsafeRow, old: UnsafeRow, ts: Long): Unit =
    throw new UnsupportedOperationException("a store does not receive records")

  override def snapshot(to: (UnsafeRow, UnsafeRow, Long) => Unit): Iterator[Unit] = rows match {
    case s: Store => s.each().map(e => to(s.key(e), s.value(e), e.ts))
    case g: GroupStore => g.rows().map { i =>
      val isVersion = store.groups.exists(_.shape == Groups.Versions)
      val key = GroupStore.shown(store, windows, g.key(i.group), i)
      to(key, if (i.isDeletion) null else g.value(i), if (isVersion) i.time else i.ts)
    }
  }
}
