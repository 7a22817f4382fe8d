package brookmere.kernel.ops.output

/** Kafka's hash of a serialised key. */
object Murmur2 {
  import org.apache.spark.unsafe.Platform
  def partition(base: AnyRef, offset: Long, size: Int, partitions: Int): Int =
    (hash(base, offset, size) & 0x7fffffff) % partitions

  def hash(base: AnyRef, offset: Long, size: Int): Int = {
    val m = 0x5bd1e995
    var h = 0x9747b28c ^ size
    val words = size >> 2
    var i = 0
    while (i < words) {
      var k = Platform.getInt(base, offset + 4L * i)
      k *= m
      k ^= k >>> 24
      k *= m
      h *= m
      h ^= k
      i += 1
    }
    val tail = offset + 4L * words
    val left = size & 3
    if (left == 3) h ^= (Platform.getByte(base, tail + 2) & 0xff) << 16
    if (left >= 2) h ^= (Platform.getByte(base, tail + 1) & 0xff) << 8
    if (left >= 1) { h ^= Platform.getByte(base, tail) & 0xff; h *= m }
    h ^= h >>> 13
    h *= m
    h ^= h >>> 15
    h
  }
}
