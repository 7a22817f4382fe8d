package brookmere.kernel.state

import java.util.{ArrayList, Arrays, TreeMap}

import brookmere.kernel.rows.Rows

import org.apache.spark.sql.types._
import org.apache.spark.unsafe.Platform

/**
 * Which keys have rows of which time, in buckets of `width` milliseconds. A key may be in a bucket for rows that are
 * gone by now: readers check the rows.
 */
final class Wheel(val width: Long) {
  private val buckets = new TreeMap[java.lang.Long, ArrayList[Group]]()

  def bucketOf(time: Long): Long = Math.floorDiv(time, width)

  def add(bucket: Long, g: Group): Unit = buckets.computeIfAbsent(bucket, _ => new ArrayList[Group]()).add(g)

  def firstTime: Long = if (buckets.isEmpty) Long.MaxValue else buckets.firstKey * width

  /** Removes and returns the first bucket if it ends at or before `time`; null otherwise. */
  def take(time: Long): ArrayList[Group] =
    if (buckets.isEmpty || (buckets.firstKey + 1) * width > time) null else buckets.pollFirstEntry().getValue

  /** The groups of the buckets between two times, both inclusive. */
  def between(from: Long, to: Long): Iterator[Group] = {
    import scala.jdk.CollectionConverters._
    if (from > to) Iterator.empty
    else buckets.subMap(bucketOf(from), true, bucketOf(to), true).values.iterator.asScala.flatMap(_.iterator.asScala)
  }

  /** The times of the buckets, in order, with their groups: for a scan that stops early. */
  def scan: java.util.Iterator[java.util.Map.Entry[java.lang.Long, ArrayList[Group]]] = buckets.entrySet.iterator

  def clear(): Unit = buckets.clear()
  def isEmpty: Boolean = buckets.isEmpty
}

/** The wheel of a store with its rows in the state: chunks of keys by bucket and number. */
object Wheel {
  val keySchema: StructType = new StructType().add("bucket", LongType).add("number", LongType)
  val valueSchema: StructType = new StructType().add("keys", BinaryType)

  def key(bucket: Long, number: Long): Array[Byte] = {
    val b = new Array[Byte](24)
    Platform.putLong(b, Rows.Base + 8, bucket)
    Platform.putLong(b, Rows.Base + 16, number)
    b
  }

  def pack(keys: ArrayList[Array[Byte]]): Array[Byte] = {
    var n = 0
    keys.forEach(k => n += 4 + k.length)
    val a = new Array[Byte](n)
    var p = 0
    keys.forEach { k =>
      Platform.putInt(a, Rows.Base + p, k.length)
      System.arraycopy(k, 0, a, p + 4, k.length)
      p += 4 + k.length
    }
    a
  }

  def unpack(a: Array[Byte]): Iterator[Array[Byte]] = new Iterator[Array[Byte]] {
    private var p = 0
    override def hasNext: Boolean = p < a.length
    override def next(): Array[Byte] = {
      val n = Platform.getInt(a, Rows.Base + p)
      p += 4 + n
      Arrays.copyOfRange(a, p - n, p)
    }
  }
}
