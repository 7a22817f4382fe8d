package brookmere.streams

import scala.jdk.CollectionConverters._

import org.apache.kafka.common.Metric
import org.apache.kafka.streams.KafkaStreams

/** Tells how many records the threads of a running program have processed, whenever the number stands still. */
final class Meter(streams: KafkaStreams, tell: String => Unit) {
  private val everyMs = 20L

  def run(): Unit = {
    var counters = Seq.empty[Metric]
    var told = 0L
    var last = 0L
    var changed = 0L
    while (true) {
      Thread.sleep(everyMs)
      // The threads have their counters from the start; looking for them again would cost what is measured.
      if (counters.isEmpty) counters = find()
      val now = counters.map(_.metricValue().asInstanceOf[Double].toLong).sum
      if (now != last) {
        last = now
        changed = System.currentTimeMillis()
      } else if (last != told) {
        told = last
        tell(s"processed $last $changed")
      }
    }
  }

  private def find(): Seq[Metric] =
    streams.metrics().asScala.toSeq.collect {
      case (name, metric) if name.name == "process-total" && name.group == "stream-thread-metrics" => metric
    }
}
