package brookmere.kernel.rows

import java.util.{Map => JMap, Set => JSet}

import scala.jdk.CollectionConverters._

/**
 * [[Destinations]] as Python passes them, by the number of the sink; the dataclass of the same name and fields is in
 * run/program_builder.py.
 */
final case class DestinationSpec(
    topics: JMap[Integer, String],
    routed: JSet[Integer],
    taps: JSet[Integer],
    windows: JMap[Integer, Integer],
    changelogs: JSet[Integer]) {
  def destinations: Destinations = {
    def ints(s: JSet[Integer]): Set[Int] = s.asScala.map(_.intValue).toSet
    val names = topics.asScala.map { case (n, t) => n.intValue -> t }.toMap
    val bytes = windows.asScala.map { case (n, b) => n.intValue -> b.intValue }.toMap
    new Destinations(names, ints(routed), ints(taps), bytes, ints(changelogs))
  }
}
