package brookmere.kernel.formats

import scala.jdk.CollectionConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** A message as the codec sees it. Its fields are in the order of the Spark type. */
final class ProtobufMessage(val name: String, val fields: Array[ProtobufField]) {
  private val direct = new Array[ProtobufField](if (fields.isEmpty) 1 else math.min(fields.map(_.number).max + 1, 256))
  private val others = fields.filter(_.number >= direct.length).map(f => f.number -> f).toMap
  fields.foreach(f => if (f.number < direct.length) direct(f.number) = f)
  /** The fields in the order in which they are written: by number. */
  val byNumber: Array[ProtobufField] = fields.sortBy(_.number)
  val oneofs: Int = if (fields.isEmpty) 0 else fields.map(_.oneof).max + 1

  def field(number: Int): ProtobufField = if (number < direct.length) direct(number) else others.getOrElse(number, null)
}

final class ProtobufField(
    val position: Int,
    val name: String,
    val number: Int,
    val kind: String, // int32 … bytes, enum, message, map, or how a well-known message is shown: timestamp, wrapped
    val repeated: Boolean,
    val packed: Boolean,
    val presence: String, // implicit, explicit or required
    val oneof: Int,
    val symbols: ProtobufEnum,
    /** The message; for a map its entry, for a wrapper what it holds. */
    val message: ProtobufMessage) {
  val wire: Int = kind match {
    case "fixed64" | "sfixed64" | "double" => ProtobufSchema.Fixed64
    case "fixed32" | "sfixed32" | "float" => ProtobufSchema.Fixed32
    case "string" | "bytes" | "message" | "map" | "timestamp" | "wrapped" => ProtobufSchema.Bytes
    case _ => ProtobufSchema.Varint
  }
}

/** `closed`: a number without a name is not one of its values. */
final class ProtobufEnum(val name: String, val names: Map[Int, String], val numbers: Map[String, Int], val first: Int,
    val closed: Boolean)

object ProtobufSchema {
  val Varint = 0
  val Fixed64 = 1
  val Bytes = 2
  val StartGroup = 3
  val EndGroup = 4
  val Fixed32 = 5

  /** Reads the form in which Python passes a message: no message in it contains itself. */
  def apply(json: String): ProtobufMessage = message(new ObjectMapper().readTree(json))

  private def message(n: JsonNode): ProtobufMessage = {
    val fields = n.get("fields").asScala.zipWithIndex.map { case (f, i) => field(f, i) }
    new ProtobufMessage(n.get("name").asText, fields.toArray)
  }

  private def field(n: JsonNode, position: Int): ProtobufField = new ProtobufField(
    position, n.get("name").asText, n.get("number").asInt, n.get("kind").asText,
    n.path("repeated").asBoolean(false), n.path("packed").asBoolean(false), n.path("presence").asText("implicit"),
    n.path("oneof").asInt(-1),
    if (n.has("enum")) symbols(n.get("enum")) else null,
    if (n.has("message")) message(n.get("message")) else null)

  private def symbols(n: JsonNode): ProtobufEnum = {
    val values = n.get("values").asScala.map(v => v.get(0).asText -> v.get(1).asInt).toSeq
    // Of several names for a number the first counts.
    new ProtobufEnum(n.get("name").asText, values.reverse.map(_.swap).toMap, values.toMap, values.head._2,
      n.get("closed").asBoolean)
  }
}
