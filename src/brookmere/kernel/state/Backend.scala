package brookmere.kernel.state

import java.util.{Arrays, Comparator, TreeMap, HashMap => JMap}

import brookmere.kernel.expr.RowType
import brookmere.kernel.rows.{Rows, WindowKeys}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.sql.types._

/** A store of the program: name, kind and types, and whether a key has several rows. */
final case class StoreDef(name: String, kind: String, key: RowType, value: RowType, groups: Option[Groups] = None) {
  /** The key of a row as users see it. */
  def shownKey: RowType = groups.map(_.shownKey(key)).getOrElse(key)
}

/**
 * How the rows of one key differ. `retention`: rows older than that, relative to the store's own time, are gone.
 * `timed`: the rows of all keys can also be found by time.
 */
final case class Groups(shape: String, retention: Long, window: Long = 0L, timed: Boolean = false,
    sub: Option[RowType] = None) {
  /** Rows before this time can no longer be found when the store's time is `now`. */
  def oldest(now: Long): Long =
    if (retention == Groups.Forever) Long.MinValue
    // Kafka Streams' window stores that can also be found by time reach one millisecond further.
    else if (timed && shape == Groups.Window) now - retention
    else now - retention + 1

  /** Rows before this time may be dropped: closed sessions can be found by time until their segment is dropped. */
  def droppable(now: Long): Long =
    if (retention == Groups.Forever) Long.MinValue
    else if (timed && shape == Groups.Session) {
      val segment = math.max(retention / 2, Groups.Segment)
      (now - retention) / segment * segment
    } else oldest(now)

  def shownKey(key: RowType): RowType = shape match {
    case Groups.Window | Groups.Session => WindowKeys.typeOf(key)
    case _ => key
  }
}

object Groups {
  /** By the start of the window. */
  val Window = "window"
  /** By the end of the session, then by its start. */
  val Session = "session"
  /** By the time from which a version is valid. The version that is valid at the oldest time stays. */
  val Versions = "versions"
  /** By time, then by a number or a packed row. */
  val Items = "items"
  val Forever: Long = Long.MaxValue
  /** The shortest span of time that Kafka Streams drops at once. */
  private val Segment = 60000L
}

object StoreDef {
  /** Everything in memory, with a log in the state. */
  val Memory = "memory"
  /** A row of the state per key. */
  val RocksDb = "rocksdb"
  /** In memory until it has grown too large, then a row per key. */
  val Auto = "auto"
}

/**
 * A column family of the stage's state. Keys start with the task, so that Spark can move a task's state with it:
 * struct<key: struct<value: int>, userKey>, value: struct<ts, v>.
 */
final case class Family(name: String, key: StructType, value: StructType, sub: StructType = null) {
  val userKey: StructType = Family.plain(key)
  val keySchema: StructType = {
    val k = new StructType().add("key", new StructType().add("value", IntegerType)).add("userKey", userKey)
    if (sub == null) k else k.add("item", Family.plain(sub))
  }
  val valueSchema: StructType = {
    val v = new StructType().add("ts", LongType).add("v", Family.plain(value))
    if (sub == null) v else v.add("time", LongType).add("number", LongType)
  }
  /** Rows of one key are read together. */
  def hasPrefix: Boolean = sub != null
}

object Family {
  def of(d: StoreDef): Seq[Family] = {
    val log = Family(logName(d.name), ChunkLog.keySchema, ChunkLog.valueSchema)
    val rows = d.groups match {
      case None => Family(d.name, d.key.schema, d.value.schema)
      case Some(g) => Family(d.name, d.key.schema, d.value.schema, itemSchema(g))
    }
    // The family of rows stays empty while everything is in the log, but with its schema Spark rejects another type.
    val all = if (d.kind == StoreDef.RocksDb) Seq(rows) else Seq(rows, log)
    if (d.groups.isEmpty) all else all :+ Family(wheelName(d.name), Wheel.keySchema, Wheel.valueSchema)
  }

  private def itemSchema(g: Groups): StructType = {
    val item = new StructType().add("time", LongType).add("number", LongType)
    g.sub.fold(item)(s => item.add("sub", s.schema))
  }

  /**
   * Spark writes the schema of a family as Avro, which allows plain names only, and not all types. Rows contain
   * neither, so plain names, and types with the same size in a row, change only what the state's reader shows.
   */
  private def plain[T <: DataType](t: T): T = (t match {
    case StructType(fields) =>
      StructType(fields.zipWithIndex.map { case (f, i) =>
        val isPlain = f.name.matches("[A-Za-z_][A-Za-z0-9_]*")
        val name = if (isPlain) f.name else "f" + i + f.name.replaceAll("[^A-Za-z0-9_]", "_")
        f.copy(name = name, dataType = plain(f.dataType))
      })
    case ArrayType(e, n) => ArrayType(plain(e), n)
    case MapType(k: StringType, v, n) => MapType(plain(k), plain(v), n)
    case _: StringType => StringType
    case _: DayTimeIntervalType => LongType
    case _: YearMonthIntervalType => IntegerType
    case _: MapType | VariantType | CalendarIntervalType => BinaryType
    case other => other
  }).asInstanceOf[T]

  def logName(store: String): String = store + "-log"
  def wheelName(store: String): String = store + "-times"

  /** Stream time of the task. */
  val TaskName = "brookmere-task"
  val task: Family = Family(TaskName, new StructType().add("name", StringType), new StructType().add("time", LongType))
}

/** Where stores keep their bytes: Spark's state store in a query, a map in the local runner. */
trait Backend {
  def get(family: String, key: UnsafeRow): UnsafeRow
  def put(family: String, key: UnsafeRow, value: UnsafeRow): Unit
  def remove(family: String, key: UnsafeRow): Unit
  /** The rows of a task's key, in a family with several rows per key; a row is valid until the next step. */
  def rowsOf(family: String, prefix: UnsafeRow): Iterator[(UnsafeRow, UnsafeRow)]
  /** All rows of a family, of every task; a row is valid until the next step. */
  def rows(family: String): Iterator[(UnsafeRow, UnsafeRow)]
}

/** Keeps rows in memory, in byte order of their keys. */
final class LocalBackend extends Backend {
  private val families = new JMap[String, TreeMap[Array[Byte], Array[Byte]]]()
  private val order: Comparator[Array[Byte]] = (a, b) => Arrays.compareUnsigned(a, b)
  private val widths = new JMap[String, (Int, Int)]()
  private def family(name: String) = families.computeIfAbsent(name, _ => new TreeMap[Array[Byte], Array[Byte]](order))

  override def get(name: String, key: UnsafeRow): UnsafeRow = {
    val v = family(name).get(Rows.bytes(key))
    if (v == null) null else Rows.of(v, widths.get(name)._2)
  }
  override def put(name: String, key: UnsafeRow, value: UnsafeRow): Unit = {
    widths.put(name, (key.numFields, value.numFields))
    family(name).put(Rows.bytes(key), Rows.bytes(value))
  }
  override def remove(name: String, key: UnsafeRow): Unit = family(name).remove(Rows.bytes(key))
  override def rows(name: String): Iterator[(UnsafeRow, UnsafeRow)] = {
    val i = family(name).entrySet.iterator
    new Iterator[(UnsafeRow, UnsafeRow)] {
      override def hasNext: Boolean = i.hasNext
      override def next(): (UnsafeRow, UnsafeRow) = {
        val e = i.next()
        val (keyFields, valueFields) = widths.get(name)
        (Rows.of(e.getKey, keyFields), Rows.of(e.getValue, valueFields))
      }
    }
  }
  /** There are few rows here: those of a key are found by a scan. */
  override def rowsOf(name: String, prefix: UnsafeRow): Iterator[(UnsafeRow, UnsafeRow)] =
    rows(name).filter { case (k, _) =>
      (0 until prefix.numFields).forall(i => Arrays.equals(part(k, i), part(prefix, i)))
    }
  private def part(row: UnsafeRow, i: Int): Array[Byte] = row.getBinary(i)
}
