package brookmere.kernel.rows

import java.util.{ArrayList, Comparator, PriorityQueue, TreeMap}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Groups the rows of a Spark partition by task and, within a task, in order of arrival. Rows come as few ascending runs
 * (one per upstream partition), which are merged.
 */
final class TaskMerge(in: Iterator[InternalRow]) extends Iterator[InternalRow] {
  private val pages = new RowPages
  private val tasks = new TreeMap[Integer, ArrayList[Run]]()
  private var pending: java.util.Iterator[ArrayList[Run]] = null
  private var only: Run = null
  private val heap = new PriorityQueue[Run](8, new Comparator[Run] {
    override def compare(a: Run, b: Run): Int = if (a.before(b)) -1 else if (b.before(a)) 1 else 0
  })
  private var ready: UnsafeRow = null
  private var taken: Run = null

  private def load(): Unit = {
    var task = Int.MinValue
    var runs: ArrayList[Run] = null
    var run: Run = null
    while (in.hasNext) {
      val r = in.next().asInstanceOf[UnsafeRow]
      val t = r.getInt(Layout.Task)
      if (runs == null || t != task) {
        runs = tasks.computeIfAbsent(t, _ => new ArrayList[Run]())
        task = t
        run = if (runs.isEmpty) null else runs.get(runs.size - 1)
      }
      if (run == null || !run.follows(r)) {
        run = firstThatFits(runs, r)
        if (run == null) { run = new Run(pages); runs.add(run) }
      }
      run.add(r)
    }
    pending = tasks.values.iterator
  }

  /** Separates interleaved runs again: tasks of one upstream partition take turns. */
  private def firstThatFits(runs: ArrayList[Run], r: UnsafeRow): Run = {
    var i = 0
    val n = math.min(runs.size, TaskMerge.Tried)
    while (i < n) { if (runs.get(i).follows(r)) return runs.get(i); i += 1 }
    null
  }

  override def hasNext: Boolean = {
    if (pending == null) load()
    if (ready == null) ready = step()
    ready != null
  }

  override def next(): InternalRow = {
    if (!hasNext) throw new NoSuchElementException
    val r = ready
    ready = null
    r
  }

  private def step(): UnsafeRow = {
    if (only != null) {
      if (only.advance()) return only.row
      only = null
    } else if (taken != null) {
      if (!taken.advance()) taken = null
      // A run often continues: then the others need not be touched.
      else if (!heap.peek.before(taken)) return taken.row
      else {
        val next = heap.poll()
        heap.add(taken)
        taken = next
        return taken.row
      }
    }
    while (true) {
      if (!heap.isEmpty) {
        taken = heap.poll()
        if (heap.isEmpty) { only = taken; taken = null; return only.row }
        return taken.row
      }
      if (!pending.hasNext) return null
      val runs = pending.next()
      var i = 0
      while (i < runs.size) { val r = runs.get(i); if (r.advance()) heap.add(r); i += 1 }
    }
    null
  }
}

object TaskMerge {
  private val Tried = 16
}
