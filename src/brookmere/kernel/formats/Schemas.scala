package brookmere.kernel.formats

import java.io.{ByteArrayInputStream, IOException}
import java.net.{HttpURLConnection, Proxy, URI, URLEncoder}
import java.nio.charset.StandardCharsets.UTF_8
import java.security.KeyStore
import java.security.cert.CertificateFactory
import java.util.Base64
import java.util.concurrent.ConcurrentHashMap
import javax.net.ssl.{HttpsURLConnection, SSLContext, TrustManagerFactory}

import scala.jdk.CollectionConverters._

import brookmere.kernel.core.{BadBytes, Unavailable}

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** Where a registry is and who asks. Nothing of it but the addresses is ever shown. */
final class Registry(val addresses: Array[String], authorization: String, authorities: String, patienceMs: Long) extends Serializable {
  override def toString: String = addresses.mkString(",")
  override def equals(other: Any): Boolean = other match {
    case r: Registry => r.key == key
    case _ => false
  }
  override def hashCode: Int = key.hashCode
  private[formats] def key: String = addresses.mkString(",")

  @transient private lazy val tls: SSLContext = {
    val store = KeyStore.getInstance(KeyStore.getDefaultType)
    store.load(null, null)
    val found = CertificateFactory.getInstance("X.509").generateCertificates(new ByteArrayInputStream(authorities.getBytes(UTF_8)))
    found.asScala.zipWithIndex.foreach { case (c, i) => store.setCertificateEntry(s"ca$i", c) }
    val trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm)
    trusted.init(store)
    val context = SSLContext.getInstance("TLS")
    context.init(null, trusted.getTrustManagers, null)
    context
  }

  /** The answer to a question, or null where the registry knows of nothing; waits while it is away. */
  private[formats] def ask(path: String): JsonNode = {
    val giveUp = System.nanoTime + patienceMs * 1000000L
    var pause = 100L
    var problem = ""
    while (true) {
      addresses.foreach { address =>
        try {
          val (status, body) = get(address + path)
          if (status == 200) return new ObjectMapper().readTree(body)
          if (status == 404) return null
          if (status == 401 || status == 403)
            throw new Unavailable(s"The schema registry $address refuses access. Found: HTTP status $status for $path. Correct the user and the password of the registry.")
          problem = s"$address: HTTP status $status"
        } catch { case e: IOException => problem = s"$address: ${Option(e.getMessage).getOrElse(e.getClass.getSimpleName)}" }
      }
      if (System.nanoTime > giveUp)
        throw new Unavailable(s"The schema registry $this does not answer. Found: $problem. Start it, and the application again: it goes on where it stopped.")
      Thread.sleep(pause)
      pause = math.min(pause * 2, 2000L)
    }
    null
  }

  private def get(url: String): (Int, Array[Byte]) = {
    val at = new URI(url).toURL
    val local = Set("localhost", "127.0.0.1", "[::1]")(at.getHost)
    val connection = (if (local) at.openConnection(Proxy.NO_PROXY) else at.openConnection()).asInstanceOf[HttpURLConnection]
    connection match {
      case s: HttpsURLConnection if authorities != null => s.setSSLSocketFactory(tls.getSocketFactory)
      case _ =>
    }
    connection.setConnectTimeout(5000)
    connection.setReadTimeout(10000)
    connection.setRequestProperty("Accept", "application/vnd.schemaregistry.v1+json, application/json")
    if (authorization != null)
      connection.setRequestProperty("Authorization", "Basic " + Base64.getEncoder.encodeToString(authorization.getBytes(UTF_8)))
    try {
      val status = connection.getResponseCode
      val stream = if (status < 400) connection.getInputStream else connection.getErrorStream
      (status, if (stream == null) Array.empty else try stream.readAllBytes() finally stream.close())
    } finally connection.disconnect()
  }
}

/** A schema by its id: its kind, and its text behind those of the schemas that it refers to. */
final case class Known(kind: String, texts: Seq[String])

/** The schemas of registries, kept for as long as the process lives: an id never changes its meaning. */
object Schemas {
  private val known = new ConcurrentHashMap[(String, Int), Known]
  private val missing = new ConcurrentHashMap[(String, Int), java.lang.Long]
  private val MissingMs = 30000L

  /** Adds a schema that is known without asking. */
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
    // A mock has no address to ask: what it knows was put here.
    val isMock = registry.key.startsWith("mock:")
    val answer = if (isMock || (before != null && System.currentTimeMillis - before < MissingMs)) null else registry.ask(s"/schemas/ids/$id")
    if (answer == null) {
      if (!isMock && before == null) missing.put(key, System.currentTimeMillis)
      throw new BadBytes(s"the registry $registry has no schema with the id $id")
    }
    missing.remove(key)
    val texts = scala.collection.mutable.LinkedHashMap[String, String]()
    references(registry, answer, texts)
    val found = Known(Option(answer.get("schemaType")).fold("AVRO")(_.asText), texts.values.toSeq :+ answer.get("schema").asText)
    known.put(key, found)
    found
  }

  private def references(registry: Registry, schema: JsonNode, texts: scala.collection.mutable.LinkedHashMap[String, String]): Unit =
    Option(schema.get("references")).foreach(_.forEach { r =>
      val subject = r.get("subject").asText
      val place = s"/subjects/${URLEncoder.encode(subject, UTF_8).replace("+", "%20")}/versions/${r.get("version").asInt}"
      if (!texts.contains(place)) {
        val found = registry.ask(place)
        if (found == null) throw new BadBytes(s"the registry $registry has no version ${r.get("version").asInt} of $subject, which a schema refers to")
        references(registry, found, texts)
        texts(place) = found.get("schema").asText
      }
    })
}
