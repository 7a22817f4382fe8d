package brookmere.kernel.formats

import java.io.IOException
import java.net.{HttpURLConnection, Proxy, URI}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64
import javax.net.ssl.HttpsURLConnection

import brookmere.kernel.core.Unavailable

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}

/** The address of a registry and the client's credentials. Only the addresses are ever shown. */
final class Registry(val addresses: Array[String], authorization: String, tls: Tls, patienceMs: Long)
    extends Serializable {
  override def toString: String = addresses.mkString(",")
  override def equals(other: Any): Boolean = other match {
    case r: Registry => r.key == key
    case _ => false
  }
  override def hashCode: Int = key.hashCode
  private[formats] def key: String = addresses.mkString(",")

  /** The response to a request, or null if the registry does not know it; waits while the registry is unavailable. */
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
            throw new Unavailable(s"The schema registry $address refuses access. " +
              s"Found: HTTP status $status for $path. Correct the user and the password of the registry.")
          problem = s"$address: HTTP status $status"
        } catch {
          case e: IOException => problem = s"$address: ${Option(e.getMessage).getOrElse(e.getClass.getSimpleName)}"
        }
      }
      if (System.nanoTime > giveUp)
        throw new Unavailable(s"The schema registry $this does not answer. Found: $problem. " +
          "Start it, then restart the application: it resumes where it stopped.")
      Thread.sleep(pause)
      pause = math.min(pause * 2, 2000L)
    }
    null
  }

  private def get(url: String): (Int, Array[Byte]) = {
    val at = new URI(url).toURL
    val local = Set("localhost", "127.0.0.1", "[::1]")(at.getHost)
    val opened = if (local) at.openConnection(Proxy.NO_PROXY) else at.openConnection()
    val connection = opened.asInstanceOf[HttpURLConnection]
    connection match {
      case s: HttpsURLConnection if tls != null => s.setSSLSocketFactory(tls.context.getSocketFactory)
      case _ =>
    }
    connection.setConnectTimeout(5000)
    connection.setReadTimeout(10000)
    connection.setRequestProperty("Accept", "application/vnd.schemaregistry.v1+json, application/json")
    if (authorization != null) {
      val credentials = Base64.getEncoder.encodeToString(authorization.getBytes(UTF_8))
      connection.setRequestProperty("Authorization", "Basic " + credentials)
    }
    try {
      val status = connection.getResponseCode
      val stream = if (status < 400) connection.getInputStream else connection.getErrorStream
      (status, if (stream == null) Array.empty else try stream.readAllBytes() finally stream.close())
    } finally connection.disconnect()
  }
}
