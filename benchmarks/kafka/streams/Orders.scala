package brookmere.streams

import scala.beans.BeanProperty

import com.fasterxml.jackson.databind.{DeserializationFeature, ObjectMapper}
import org.apache.kafka.common.serialization.{Serde, Serdes}

/** An order as JSON has it: a bean, which is what a program in Java would read with Jackson. */
final class Order {
  @BeanProperty var order: Long = 0L
  @BeanProperty var customer: String = _
  @BeanProperty var item: String = _
  @BeanProperty var quantity: Int = 0
  @BeanProperty var price: Double = 0.0
  @BeanProperty var country: String = _
  @BeanProperty var express: Boolean = false
}

/** What comes of an order. */
final class Projected(
    @BeanProperty val order: Long,
    @BeanProperty val customer: String,
    @BeanProperty val total: Double
)

object Orders {
  val leastQuantity = 5

  private val mapper = new ObjectMapper().disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
  private val reader = mapper.readerFor(classOf[Order])
  private val writer = mapper.writerFor(classOf[Projected])

  val read: Serde[Order] = Serdes.serdeFrom[Order](
    (_: String, order: Order) => mapper.writeValueAsBytes(order),
    (_: String, bytes: Array[Byte]) => if (bytes == null) null else reader.readValue[Order](bytes)
  )

  val write: Serde[Projected] = Serdes.serdeFrom[Projected](
    (_: String, order: Projected) => if (order == null) null else writer.writeValueAsBytes(order),
    (_: String, bytes: Array[Byte]) => mapper.readValue(bytes, classOf[Projected])
  )
}
