package brookmere.kernel.python.stores

import brookmere.kernel.core.{Processor, Task}
import brookmere.kernel.python.marshal.{MarshalIn, MarshalOut}
import brookmere.kernel.state.{Clock, StoreDef}

/** Answers the worker's requests to the stores of its stage, and applies its changes. */
private[python] final class StorePort(stores: Array[StoreDef], logs: Map[String, Processor]) {
  private val all = stores.map(d => StoreAccess(d))
  private val groups = all.collect { case g: GroupAccess => g }
  all.foreach(a => a.log = logs.getOrElse(a.d.name, null))

  def attach(task: Task): Unit = all.foreach(_.attach(task))

  /** Calls `f` with the times of the stores. */
  def times(f: (String, Long) => Unit): Unit = groups.foreach(g => f(Clock.ofStore(g.d.name), g.time))

  /** Applies the changes that follow in the message. */
  def change(in: MarshalIn): Unit = if (!in.takeNone()) {
    var n = in.sequence()
    while (n > 0) {
      in.sequence()
      all(in.long().toInt).change(in)
      n -= 1
    }
  }

  /** Applies the changes of a request, and writes the response. */
  def answer(in: MarshalIn, out: MarshalOut): Unit = {
    in.sequence()
    change(in)
    val op = in.text()
    val store = all(in.long().toInt)
    op match {
      case "get" => store.get(in, out)
      case "scan" => store.scan(in, out)
      case "scan_times" => store.scanTimes(in, out)
      case "count" => out.int(store.count())
      case other => throw new IllegalStateException(s"the worker sent the request '$other', which no store can answer")
    }
  }

  /** Writes to the changelogs what has changed since the last call. */
  def writeLogs(): Unit = all.foreach(_.writeLog())
}
