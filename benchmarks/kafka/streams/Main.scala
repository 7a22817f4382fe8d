package brookmere.streams

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.time.Duration
import java.util.Properties
import java.util.concurrent.CountDownLatch

import org.apache.kafka.streams.KafkaStreams
import org.apache.kafka.streams.KafkaStreams.State
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse

/** Runs one of the programs with Kafka Streams until its standard input ends: `Main PROGRAM PROPERTIES`.
  *
  * The file of properties has the settings of Kafka Streams, and those of the program behind `program.`. Standard
  * output tells `running`, and `processed COUNT MILLISECONDS` when there is nothing more to process for the moment:
  * how many records all tasks have processed since the start, and when the last of them was counted.
  */
object Main {
  def main(arguments: Array[String]): Unit = arguments match {
    case Array("keys", kind, direction) => Keys.convert(kind, direction)
    case Array(program, file)           => System.exit(run(program, read(file)))
    case _ =>
      System.err.println("Give a program and a file of properties.")
      System.exit(2)
  }

  private def run(program: String, settings: Properties): Int = {
    val ended = new CountDownLatch(1)
    @volatile var failed = false
    val streams = new KafkaStreams(Programs.topology(program, Topics(settings)), settings)
    streams.setUncaughtExceptionHandler { error =>
      error.printStackTrace()
      failed = true
      StreamThreadExceptionResponse.SHUTDOWN_CLIENT
    }
    streams.setStateListener { (now, _) =>
      if (now == State.RUNNING) tell("running")
      if (now == State.ERROR || now == State.NOT_RUNNING) ended.countDown()
    }
    streams.start()
    inBackground("meter")(new Meter(streams, tell).run())
    inBackground("end of input") {
      while (System.in.read() >= 0) {}
      ended.countDown()
    }
    ended.await()
    if (!streams.close(Duration.ofSeconds(60))) failed = true
    if (failed) 1 else 0
  }

  private def tell(line: String): Unit = Main.synchronized {
    System.out.println(line)
    System.out.flush()
  }

  private def inBackground(name: String)(work: => Unit): Unit = {
    val thread = new Thread(() => work, name)
    thread.setDaemon(true)
    thread.start()
  }

  private def read(file: String): Properties = {
    val found = new Properties()
    val reader = Files.newBufferedReader(Path.of(file), UTF_8)
    try found.load(reader)
    finally reader.close()
    found
  }
}
