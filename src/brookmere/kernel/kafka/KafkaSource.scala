package brookmere.kernel.kafka

import java.util.{Map => JMap, Set => JSet}

import brookmere.kernel.rows.RawLayout
import brookmere.kernel.transport.{SourceOptions, UpdatesBuilder}

import org.apache.spark.sql.connector.catalog._
import org.apache.spark.sql.connector.expressions.Transform
import org.apache.spark.sql.connector.read._
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream
import org.apache.spark.sql.connector.write._
import org.apache.spark.sql.connector.write.streaming.StreamingWrite
import org.apache.spark.sql.sources.DataSourceRegister
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.util.CaseInsensitiveStringMap

/**
 * Kafka topics as the source and the sink of a topology: `format("brookmere.kafka")` with the option `application`, the
 * name of a run.
 */
final class KafkaSource extends TableProvider with DataSourceRegister {
  override def shortName(): String = "brookmere.kafka"
  override def inferSchema(options: CaseInsensitiveStringMap): StructType = RawLayout.schema
  override def getTable(schema: StructType, partitioning: Array[Transform], properties: JMap[String, String]): Table =
    new KafkaTable(schema)
}

final class KafkaTable(override val schema: StructType) extends Table with SupportsRead with SupportsWrite {
  override def name: String = "brookmere.kafka"
  override def capabilities: JSet[TableCapability] =
    java.util.EnumSet.of(TableCapability.MICRO_BATCH_READ, TableCapability.STREAMING_WRITE,
      TableCapability.ACCEPT_ANY_SCHEMA)

  override def newScanBuilder(o: CaseInsensitiveStringMap): ScanBuilder = () => {
    val options = new SourceOptions(o)
    new Scan {
      override def readSchema(): StructType = KafkaTable.this.schema
      override def description(): String = s"topics ${options.topics.mkString(", ")}"
      override def toMicroBatchStream(checkpoint: String): MicroBatchStream =
        new KafkaStream(options, KafkaPlaces.of(options.application))
    }
  }

  override def newWriteBuilder(info: LogicalWriteInfo): WriteBuilder = new UpdatesBuilder {
    override def build(): Write = new Write {
      override def description(): String = "Kafka topics"
      override def toStreaming: StreamingWrite = new KafkaWrite(info.options.get("plan"), info.queryId)
    }
  }
}
