package brookmere.streams

import java.time.Duration
import java.util.{Arrays, Collections, Locale, Properties}

import org.apache.kafka.common.serialization.{Serde, Serdes}
import org.apache.kafka.streams.{StreamsBuilder, Topology}
import org.apache.kafka.streams.kstream.{Consumed, Grouped, Joined, KStream, KTable, Produced}
import org.apache.kafka.streams.kstream.{SessionWindows, TimeWindows, ValueJoiner, Windowed, WindowedSerdes}

/** The topics that a program reads and writes, and the settings of its windows. */
final case class Topics(in: String, table: String, out: String, size: Duration, grace: Duration)

object Topics {
  def apply(settings: Properties): Topics = {
    def text(name: String): String = settings.getProperty(s"program.$name", "")
    def millis(name: String): Duration = Duration.ofMillis(settings.getProperty(s"program.$name", "10000").toLong)
    Topics(text("in"), text("table"), text("out"), millis("size.ms"), millis("grace.ms"))
  }
}

/** The programs, as one writes them with Kafka Streams' own language. */
object Programs {
  def topology(program: String, topics: Topics): Topology = {
    val builder = new StreamsBuilder
    program match {
      case "projection"    => projection(builder, topics)
      case "word-count"    => wordCount(builder, topics)
      case "count"         => count(builder, topics)
      case "join"          => join(builder, topics)
      case "left-join"     => leftJoin(builder, topics)
      case "tumbling"      => tumbling(builder, topics)
      case "session-count" => sessionCount(builder, topics)
      case other           => throw new IllegalArgumentException(s"There is no program $other.")
    }
    builder.build()
  }

  private val text = Serdes.String()
  private val bytes = Serdes.ByteArray()
  private val long = Serdes.Long()

  private def projection(builder: StreamsBuilder, topics: Topics): Unit =
    builder
      .stream(topics.in, Consumed.`with`(text, Orders.read))
      .filter((_, order) => order.quantity >= Orders.leastQuantity)
      .mapValues(order => new Projected(order.order, order.customer, order.quantity * order.price))
      .to(topics.out, Produced.`with`(text, Orders.write))

  private def wordCount(builder: StreamsBuilder, topics: Topics): Unit = {
    val words: KStream[String, String] = builder
      .stream(topics.in, Consumed.`with`(text, text))
      .flatMapValues { (line: String) =>
        if (line == null) Collections.emptyList[String]()
        else Arrays.asList(line.toLowerCase(Locale.ROOT).split(" "): _*)
      }
    words
      .groupBy((_: String, word: String) => word, Grouped.`with`(text, text))
      .count()
      .toStream()
      .to(topics.out, Produced.`with`(text, long))
  }

  private def count(builder: StreamsBuilder, topics: Topics): Unit =
    builder
      .stream(topics.in, Consumed.`with`(text, bytes))
      .groupByKey(Grouped.`with`(text, bytes))
      .count()
      .toStream()
      .to(topics.out, Produced.`with`(text, long))

  private def join(builder: StreamsBuilder, topics: Topics): Unit =
    left(builder, topics)
      .join(right(builder, topics), both, Joined.`with`(text, text, text))
      .to(topics.out, Produced.`with`(text, text))

  private def leftJoin(builder: StreamsBuilder, topics: Topics): Unit =
    left(builder, topics)
      .leftJoin(right(builder, topics), both, Joined.`with`(text, text, text))
      .to(topics.out, Produced.`with`(text, text))

  private def left(builder: StreamsBuilder, topics: Topics): KStream[String, String] =
    builder.stream(topics.in, Consumed.`with`(text, text))

  private def right(builder: StreamsBuilder, topics: Topics): KTable[String, String] =
    builder.table(topics.table, Consumed.`with`(text, text))

  private val both: ValueJoiner[String, String, String] =
    (left, right) => if (right == null) left else left + " " + right

  private def tumbling(builder: StreamsBuilder, topics: Topics): Unit =
    builder
      .stream(topics.in, Consumed.`with`(text, bytes))
      .groupByKey(Grouped.`with`(text, bytes))
      .windowedBy(TimeWindows.ofSizeAndGrace(topics.size, topics.grace))
      .count()
      .toStream()
      .to(topics.out, Produced.`with`(windowed(topics), long))

  private def windowed(topics: Topics): Serde[Windowed[String]] =
    WindowedSerdes.timeWindowedSerdeFrom(classOf[String], topics.size.toMillis)

  private def sessionCount(builder: StreamsBuilder, topics: Topics): Unit =
    builder
      .stream(topics.in, Consumed.`with`(text, bytes))
      .groupByKey(Grouped.`with`(text, bytes))
      .windowedBy(SessionWindows.ofInactivityGapAndGrace(topics.size, topics.grace))
      .count()
      .toStream()
      .to(topics.out, Produced.`with`(WindowedSerdes.sessionWindowedSerdeFrom(classOf[String]), long))
}
