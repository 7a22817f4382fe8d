package brookmere.streams

import java.util.HexFormat

import scala.io.Source

import org.apache.kafka.common.serialization.{StringDeserializer, StringSerializer}
import org.apache.kafka.streams.kstream.{SessionWindowedDeserializer, SessionWindowedSerializer}
import org.apache.kafka.streams.kstream.{TimeWindowedDeserializer, TimeWindowedSerializer, Windowed}
import org.apache.kafka.streams.kstream.internals.{SessionWindow, TimeWindow}

/** Turns windowed keys into bytes and back with Kafka Streams' own serialisers, one per line of standard input.
  *
  * The bytes are written as hexadecimal digits, a key as its text, the start and the end of its window in milliseconds,
  * with tabulators between. The kind is `time:SIZE`, with the size of the windows in milliseconds, or `session`.
  */
object Keys {
  private val hex = HexFormat.of()

  def convert(kind: String, direction: String): Unit =
    for (line <- Source.stdin.getLines())
      System.out.println(if (direction == "read") read(kind, hex.parseHex(line)) else hex.formatHex(write(kind, line)))

  private def read(kind: String, bytes: Array[Byte]): String = {
    val key: Windowed[String] = kind.split(":") match {
      case Array("time", size) =>
        new TimeWindowedDeserializer(new StringDeserializer, size.toLong).deserialize("", bytes)
      case _ => new SessionWindowedDeserializer(new StringDeserializer).deserialize("", bytes)
    }
    s"${key.key}\t${key.window.start}\t${key.window.end}"
  }

  private def write(kind: String, line: String): Array[Byte] = {
    val Array(key, start, end) = line.split("\t")
    if (kind.startsWith("time"))
      new TimeWindowedSerializer(new StringSerializer)
        .serialize("", new Windowed(key, new TimeWindow(start.toLong, end.toLong)))
    else
      new SessionWindowedSerializer(new StringSerializer)
        .serialize("", new Windowed(key, new SessionWindow(start.toLong, end.toLong)))
  }
}
