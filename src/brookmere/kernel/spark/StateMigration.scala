package org.apache.spark.sql.brookmere

import java.util.{HashMap => JMap, UUID}

import scala.jdk.CollectionConverters._

import brookmere.kernel.program.Program
import brookmere.kernel.rows.{Rows, Slots, WindowKeys}
import brookmere.kernel.state._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.classic.SparkSession
import org.apache.spark.sql.execution.streaming.state._
import org.apache.spark.unsafe.hash.Murmur3_x86_32
import org.apache.spark.util.SerializableConfiguration

/**
 * Where a store was: its name, the number of its chain of stages, its kind. `groups` is its retention, and whether rows
 * could be found by time. `table` is the store that a copy of a table was made of.
 */
final case class Origin(name: String, stage: Int, kind: String, groups: Option[(Long, Boolean)], isGlobal: Boolean,
    table: String)

/** The clock of a node that has another name now. */
final case class NodeClock(stage: Int, from: String, to: String)

/**
 * The state of an application as another version of its program has left it in a checkpoint. The first batch in a new
 * checkpoint reads from there what its stores need, wherever they are now.
 */
final class StateMigration private (
    checkpoint: String, version: Long, partitions: Int, tasks: Int, stages: Int,
    origins: Map[(Int, String), Origin], clocks: Map[Int, Seq[NodeClock]],
    conf: StateStoreConf, hadoop: SerializableConfiguration) extends Serializable {

  /** Fills a new partition of the state of a chain. */
  def fill(program: Program, chain: Int, store: StateStore, pieces: Int): Unit = {
    val found = program.chains(chain).toSeq.flatMap(_.stores).flatMap(d => origins.get((chain, d.name)).map(d -> _))
    if (found.nonEmpty) {
      val mine =
        program.slots.indices.filter(t => StateMigration.piece(program.slots(t), pieces) == store.id.partitionId)
      val to = new SparkBackend(store)
      val global = found.filter(_._2.isGlobal)
      // A global table is the same in every task, so new tasks read it from the first.
      val sources =
        mine.map(t => (t, if (t < tasks) t else 0)).filter { case (t, from) => t == from || global.nonEmpty }
      val slots = Slots(tasks)
      val byPiece = sources.groupBy { case (_, from) => StateMigration.piece(slots(from), partitions) }
      byPiece.foreach { case (piece, moves) =>
        found.map(_._2.stage).distinct.foreach { old =>
          open(old, piece, found.collect { case (d, o) if o.stage == old => before(program, d, o) }) { from =>
            moves.foreach { case (t, source) =>
              takeTimes(chain, old, from, to, source, t,
                found.collect { case (d, o) if o.stage == old => (o.name, d.name) })
            }
            found.foreach { case (d, o) =>
              val own = if (o.isGlobal) moves else moves.filter(m => m._1 == m._2)
              if (o.stage == old) takeStore(program, d, o, from, to, own)
            }
          }
        }
      }
    }
  }

  /** Opens a partition of the old state for reading, with the families of the given stores. */
  private def open(stage: Int, piece: Int, stores: Seq[StoreDef])(use: Backend => Unit): Unit = {
    val id = StateStoreId(checkpoint + "/state", stages - stage, piece)
    val first = Family.task
    val provider = StateStoreProvider.createAndInit(StateStoreProviderId(id, UUID.randomUUID), first.keySchema,
      first.valueSchema,
      NoPrefixKeyStateEncoderSpec(first.keySchema), useColumnFamilies = true, conf, hadoop.value, false, None)
    try {
      val store = provider.getStore(version)
      try {
        (stores.flatMap(d => Family.of(d)) :+ first).foreach(f => Internals.createFamily(store, f))
        use(new SparkBackend(store))
      } finally store.abort()
    } finally provider.close()
  }

  /** A store as it was defined before: it differs only in what may change. */
  private def before(program: Program, d: StoreDef, o: Origin): StoreDef = {
    val now = if (o.table.isEmpty) d else program.stages.iterator.flatMap(_.stores).find(_.name == o.table).getOrElse(d)
    val groups = now.groups.map { g =>
      o.groups.fold(g) { case (retention, timed) => g.copy(retention = retention, timed = timed) }
    }
    now.copy(name = o.name, kind = o.kind, groups = groups)
  }

  private def takeStore(program: Program, d: StoreDef, o: Origin, from: Backend, to: Backend,
      moves: Seq[(Int, Int)]): Unit = {
    val was = before(program, d, o)
    def inRows(kind: String) = kind == StoreDef.RocksDb
    if (was.groups == d.groups && inRows(was.kind) == inRows(d.kind)) {
      Family.of(was).zip(Family.of(d)).foreach { case (f, g) => StateMigration.copy(from, f.name, to, g.name, moves) }
    } else moves.foreach { case (t, source) => convert(program, was, d, from, to, source, t) }
  }

  /** Reads a store as it was kept before, and puts its rows into the new one. */
  private def convert(program: Program, was: StoreDef, d: StoreDef, from: Backend, to: Backend, source: Int,
      task: Int): Unit = {
    val limits = program.settings.limits
    val oldTimes = new Times(from, source)
    val newTimes = new Times(to, task)
    val old = Store.open(Array(was), from, source, oldTimes, new JMap[String, AnyRef](), limits)(was.name)
    val caches = new JMap[String, AnyRef]()
    def fresh(): Kept = {
      val k = Store.open(Array(d), to, task, newTimes, caches, limits)(d.name)
      // What is too old now is dropped later, unless its operator waits for it.
      k match { case g: GroupStore => g.keepFrom = Long.MinValue; case _ => }
      k
    }
    old match { case g: GroupStore => g.clock.time = StateMigration.Early; case _ => }
    var now = fresh()
    var n = 0
    lazy val windows = new WindowKeys(was.key)
    def count(): Unit = {
      n += 1
      // A store that outgrows memory becomes another one.
      if (n % StateMigration.Together == 0) { now.flush(); now = fresh() }
    }
    old match {
      case s: RocksStore => from.rows(was.name).foreach { case (key, v) =>
        if (StateRows.taskOf(key) == source) {
          val k = now.asInstanceOf[Store]
          k.put(k.entry(StateRows.keyOf(key, s.keyFields)), StateRows.valueOf(v, s.valueFields), StateRows.timeOf(v))
          count()
        }
      }
      case s: Store => s.all().foreach { e =>
        val k = now.asInstanceOf[Store]
        k.put(k.entry(s.key(e)), s.value(e), e.ts)
        count()
      }
      case s: GroupStore => s.rows().foreach { i =>
        val k = now.asInstanceOf[GroupStore]
        val sub = k.form.sub.map(t => Rows.of(i.sub, t.fields)).orNull
        // The copy of a windowed table has the windows in its keys.
        val copied = s.form.shape != k.form.shape
        val key =
          if (copied) Rows.of(GroupStore.shownKey(was, windows, s.key(i.group), i), d.key.fields)
          else s.key(i.group)
        k.put(k.add(k.part(key), i.time, if (copied) 0L else i.number, sub), s.value(i), i.ts)
        count()
      }
    }
    now.flush()
    newTimes.flush()
  }

  /** The clocks of the task itself, of the migrated stores, and of the nodes that keep them. */
  private def takeTimes(stage: Int, old: Int, from: Backend, to: Backend, source: Int, task: Int,
      stores: Seq[(String, String)]): Unit = {
    val times = new Times(to, task)
    val storeNames = stores.groupMap { case (was, _) => Clock.ofStore(was) } { case (_, now) => Clock.ofStore(now) }
    val nodes = clocks.getOrElse(stage, Seq.empty).filter(_.stage == old)
    from.rows(Family.TaskName).foreach { case (k, v) =>
      if (StateRows.taskOf(k) == source) {
        val name = StateRows.keyOf(k, 1).getUTF8String(0).toString
        val t = StateRows.timeOf(v)
        val targets = storeNames.getOrElse(name, Seq.empty) ++ nodes.flatMap { n =>
          val was = Clock.ofNode(n.from)
          if (name == was || name.startsWith(was + ":")) Some(Clock.ofNode(n.to) + name.substring(was.length)) else None
        }
        targets.foreach(c => times.clock(c).time = t)
        // The name of a node's or a store's clock has a colon.
        if (name.indexOf(':') < 0) times.clock(name).advance(t)
      }
    }
    times.flush()
  }
}

object StateMigration {
  /** A time before all others: relative to it, no row is too old. */
  private val Early = Long.MinValue / 2
  /** How many rows are written at once. */
  private val Together = 10000

  /** The Spark partition of a slot. */
  private def piece(slot: Int, pieces: Int): Int = Math.floorMod(Murmur3_x86_32.hashInt(slot, 42), pieces)

  /** Copies the rows of a family unchanged; `moves` are pairs of a task and the task that it copies from. */
  private def copy(from: Backend, family: String, to: Backend, as: String, moves: Seq[(Int, Int)]): Unit = {
    val targets = moves.groupMap(_._2)(_._1)
    from.rows(family).foreach { case (k, v) =>
      val source = StateRows.taskOf(k)
      targets.getOrElse(source, Seq.empty).foreach { task =>
        val key: UnsafeRow = if (source == task) k else { val c = k.copy(); c.getStruct(0, 1).setInt(0, task); c }
        to.put(as, key, v)
      }
    }
  }

  def read(spark: SparkSession, json: String): StateMigration = {
    val root = new ObjectMapper().readTree(json)
    def each(name: String): Seq[JsonNode] = root.path(name).elements.asScala.toSeq
    val origins = each("stores").map { s =>
      val groups =
        if (s.path("retention").isNull) None
        else Some((s.path("retention").asLong, s.path("timed").asBoolean))
      (s.path("stage").asInt, s.path("name").asText) ->
        Origin(s.path("from").asText, s.path("from_stage").asInt, s.path("kind").asText, groups,
          s.path("is_global").asBoolean, s.path("table").asText(""))
    }.toMap
    val clocks = each("clocks").map { c =>
      c.path("stage").asInt -> NodeClock(c.path("from_stage").asInt, c.path("from").asText, c.path("to").asText)
    }
    new StateMigration(root.path("checkpoint").asText, root.path("version").asLong, root.path("partitions").asInt,
      root.path("tasks").asInt,
      root.path("stages").asInt, origins, clocks.groupMap(_._1)(_._2),
      new StateStoreConf(spark.sessionState.conf), new SerializableConfiguration(spark.sessionState.newHadoopConf()))
  }
}
