package brookmere.kernel.state

import java.util.{HashMap => JMap}

import brookmere.kernel.rows.Rows

import org.apache.spark.sql.catalyst.expressions.codegen.UnsafeRowWriter
import org.apache.spark.unsafe.types.UTF8String

/** A time that a task remembers under a name: stream time of the task, of an operator, of a store. */
final class Clock(val name: String, first: Long) {
  private[state] var written: Long = first
  var time: Long = first

  /** Advances to `t` if that is later. */
  def advance(t: Long): Unit = if (t > time) time = t
}

object Clock {
  /** No time has been seen yet. */
  val Never: Long = Long.MinValue
  /** Stream time before the first record, as in Kafka Streams. */
  val NoTime: Long = -1L
  val StreamTime = "stream-time"
  /** The wall clock at the last record of a task, and at its last tick. */
  val LastRecord = "last-record"
  val LastTick = "last-tick"
  def ofStore(name: String): String = "store:" + name
  def ofNode(name: String): String = "node:" + name

  /** The name under which a stage's clock is kept: a clock that is not of a node or a store belongs to the stage. */
  def inChain(name: String, position: Int): String =
    if (position == 0 || name.indexOf(':') >= 0) name else name + Later + position

  /** The name by which a stage knows a clock; None if it belongs to another stage. */
  def known(name: String, position: Int): Option[String] =
    if (name.indexOf(':') >= 0) Some(name)
    else name.indexOf(Later) match {
      case -1 => if (position == 0) Some(name) else None
      case at => if (name.substring(at + 1) == position.toString) Some(name.substring(0, at)) else None
    }

  private val Later = '#'
}

/** The clocks of a task, kept in its state. */
final class Times(backend: Backend, task: Int) {
  private val rows = new StateRows(task)
  private val clocks = new JMap[String, Clock]()

  /** The clock of a name, at `first` if it was never set. */
  def clock(name: String, first: Long = Clock.Never): Clock = {
    val known = clocks.get(name)
    if (known != null) known
    else {
      val found = backend.get(Family.TaskName, rows.key(key(name)))
      val c = new Clock(name, if (found == null) first else StateRows.timeOf(found))
      clocks.put(name, c)
      c
    }
  }

  /** Calls `f` with the names and times of all clocks that were ever set. */
  def each(f: (String, Long) => Unit): Unit = {
    val kept = backend.rows(Family.TaskName).filter(r => StateRows.taskOf(r._1) == task)
      .map(r => StateRows.keyOf(r._1, 1).getUTF8String(0).toString).toArray
    kept.foreach(clock(_))
    clocks.values.forEach(c => if (c.time != Clock.Never) f(c.name, c.time))
  }

  /** Writes the clocks that have changed. */
  def flush(): Unit = clocks.values.forEach { c =>
    if (c.time != c.written) {
      val w = new UnsafeRowWriter(1)
      w.resetRowWriter()
      w.write(0, c.time)
      backend.put(Family.TaskName, rows.key(key(c.name)), rows.value(Rows.bytes(w.getRow), c.time))
      c.written = c.time
    }
  }

  private def key(name: String): Array[Byte] = {
    val w = new UnsafeRowWriter(1)
    w.resetRowWriter()
    w.write(0, UTF8String.fromString(name))
    Rows.bytes(w.getRow)
  }
}
