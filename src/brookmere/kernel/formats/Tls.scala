package brookmere.kernel.formats

import java.io.ByteArrayInputStream
import java.nio.charset.StandardCharsets.UTF_8
import java.security.{KeyFactory, KeyStore, PrivateKey}
import java.security.cert.{Certificate, CertificateFactory}
import java.security.spec.{InvalidKeySpecException, PKCS8EncodedKeySpec}
import java.util.Base64
import javax.net.ssl.{KeyManagerFactory, SSLContext, TrustManagerFactory}

import scala.jdk.CollectionConverters._

import brookmere.kernel.core.Unavailable

/** The authorities that a client trusts and its own identity, as texts in PEM; any of them may be null. */
final class Tls(authorities: String, certificate: String, key: String) extends Serializable {
  @transient lazy val context: SSLContext = {
    val made = SSLContext.getInstance("TLS")
    made.init(if (certificate == null) null else keys.getKeyManagers,
      if (authorities == null) null else trusted.getTrustManagers, null)
    made
  }

  private def trusted: TrustManagerFactory = {
    val store = empty()
    certificates(authorities).zipWithIndex.foreach { case (c, i) => store.setCertificateEntry(s"ca$i", c) }
    val factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm)
    factory.init(store)
    factory
  }

  private def keys: KeyManagerFactory = {
    val store = empty()
    val own = privateKey(if (key == null) certificate else key)
    store.setKeyEntry("own", own, Array.empty, certificates(certificate).toArray)
    val factory = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm)
    factory.init(store, Array.empty)
    factory
  }

  private def empty(): KeyStore = {
    val store = KeyStore.getInstance("PKCS12")
    store.load(null, null)
    store
  }

  private def certificates(pem: String): Seq[Certificate] =
    CertificateFactory.getInstance("X.509")
      .generateCertificates(new ByteArrayInputStream(blocks(pem, "CERTIFICATE").mkString("\n").getBytes(UTF_8)))
      .asScala.toSeq

  private def privateKey(pem: String): PrivateKey = {
    val text = blocks(pem, "PRIVATE KEY").headOption.getOrElse(throw new Unavailable(
      "The key for the schema registry cannot be used. Found no block \"BEGIN PRIVATE KEY\". " +
      "Convert it: openssl pkcs8 -topk8 -nocrypt."))
    val bytes = Base64.getMimeDecoder.decode(text.linesIterator.filterNot(_.startsWith("-----")).mkString)
    Seq("RSA", "EC", "Ed25519").iterator.flatMap { kind =>
      try Some(KeyFactory.getInstance(kind).generatePrivate(new PKCS8EncodedKeySpec(bytes)))
      catch { case _: InvalidKeySpecException => None }
    }.nextOption().getOrElse(throw new Unavailable(
      "The key for the schema registry cannot be used. Found neither RSA nor EC nor Ed25519. " +
      "Use a key of one of these kinds."))
  }

  private def blocks(pem: String, kind: String): Seq[String] =
    s"(?s)-----BEGIN $kind-----.*?-----END $kind-----".r.findAllIn(pem).toSeq
}
