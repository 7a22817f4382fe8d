package brookmere.kernel.formats

import java.net.URLEncoder
import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ConcurrentHashMap

import scala.jdk.CollectionConverters._

import brookmere.kernel.core.BadBytes

import com.fasterxml.jackson.databind.JsonNode

/** A schema by its id: its kind, and its text after those of the schemas that it refers to. */
final case class Known(kind: String, texts: Seq[String])

/** The schemas of registries, kept for the life of the process: an id never changes its meaning. */
object Schemas {
  private val known = new ConcurrentHashMap[(String, Int), Known]
  private val missing = new ConcurrentHashMap[(String, Int), java.lang.Long]
  private val MissingMs = 30000L

  /** Adds a schema that is known without a request. */
  def put(registry: String, id: Int, kind: String, texts: java.util.List[String]): Unit =
    known.put((registry, id), Known(kind, texts.asScala.toSeq))

  def get(registry: Registry, id: Int, kind: String): Known = {
    val key = (registry.key, id)
    val schema = known.get(key) match {
      case null => known.synchronized { Option(known.get(key)).getOrElse(fetched(registry, id, key)) }
      case found => found
    }
    if (schema.kind != kind) throw new BadBytes(s"the schema $id is of the kind ${schema.kind}, expected $kind")
    schema
  }

  private def fetched(registry: Registry, id: Int, key: (String, Int)): Known = {
    val before = missing.get(key)
    // A mock has no address: what it knows was put here.
    val isMock = registry.key.startsWith("mock:")
    val isMissing = before != null && System.currentTimeMillis - before < MissingMs
    val answer = if (isMock || isMissing) null else registry.ask(s"/schemas/ids/$id")
    if (answer == null) {
      if (!isMock && before == null) missing.put(key, System.currentTimeMillis)
      throw new BadBytes(s"the registry $registry has no schema with the id $id")
    }
    missing.remove(key)
    val texts = scala.collection.mutable.LinkedHashMap[String, String]()
    references(registry, answer, texts)
    val kind = Option(answer.get("schemaType")).fold("AVRO")(_.asText)
    val found = Known(kind, texts.values.toSeq :+ answer.get("schema").asText)
    known.put(key, found)
    found
  }

  private def references(registry: Registry, schema: JsonNode,
      texts: scala.collection.mutable.LinkedHashMap[String, String]): Unit =
    Option(schema.get("references")).foreach(_.forEach { r =>
      val subject = r.get("subject").asText
      val place =
        s"/subjects/${URLEncoder.encode(subject, UTF_8).replace("+", "%20")}/versions/${r.get("version").asInt}"
      if (!texts.contains(place)) {
        val found = registry.ask(place)
        if (found == null) throw new BadBytes(s"the registry $registry has no version ${r.get("version").asInt} " +
          s"of $subject, which a schema refers to")
        references(registry, found, texts)
        texts(place) = found.get("schema").asText
      }
    })
}
