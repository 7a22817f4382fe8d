"""The sets of Java libraries that Brookmere uses in addition to PySpark's."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version

KAFKA_VERSION = "4.3.1"


@dataclass(frozen=True, slots=True)
class Library:
    """A jar by its Maven coordinates."""

    group: str
    name: str
    version: str

    @property
    def coordinates(self) -> str:
        return f"{self.group}:{self.name}:{self.version}"

    @property
    def file(self) -> str:
        return f"{self.name}-{self.version}.jar"


@dataclass(frozen=True, slots=True)
class JarSet:
    """Libraries that are used together: downloaded ones, and the names of those among PySpark's jars."""

    libraries: tuple[Library, ...]
    shared: tuple[str, ...] = ()


def _library(coordinates: str) -> Library:
    return Library(*coordinates.split(":"))


def _kafka(*names: str) -> tuple[Library, ...]:
    return tuple(Library("org.apache.kafka", name, KAFKA_VERSION) for name in names)


def _connector(connector: str, token_provider: str, pool: str, clients: str) -> JarSet:
    return JarSet(
        (
            Library("org.apache.spark", "spark-sql-kafka-0-10_2.13", connector),
            Library("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", token_provider),
            Library("org.apache.commons", "commons-pool2", pool),
            Library("org.apache.kafka", "kafka-clients", clients),
        )
    )


_LOGGING = ("log4j-api", "log4j-core", "log4j-slf4j2-impl", "slf4j-api")
_CODECS = ("lz4-java", "snappy-java", "zstd-jni")
_JSON = ("jackson-annotations", "jackson-core", "jackson-databind")

_BROKER = JarSet(
    _kafka(
        "kafka_2.13",
        "kafka-clients",
        "kafka-coordinator-common",
        "kafka-group-coordinator",
        "kafka-group-coordinator-api",
        "kafka-metadata",
        "kafka-raft",
        "kafka-server",
        "kafka-server-common",
        "kafka-share-coordinator",
        "kafka-storage",
        "kafka-storage-api",
        "kafka-tools",
        "kafka-tools-api",
        "kafka-transaction-coordinator",
    )
    + tuple(
        map(
            _library,
            (
                "net.sourceforge.argparse4j:argparse4j:0.7.0",
                "org.hdrhistogram:HdrHistogram:2.2.2",
                "com.github.ben-manes.caffeine:caffeine:3.2.0",
                "commons-validator:commons-validator:1.10.1",
                "com.dynatrace.hash4j:hash4j:0.22.0",
                "net.sf.jopt-simple:jopt-simple:5.0.4",
                "org.bitbucket.b_c:jose4j:0.9.6",
                "com.yammer.metrics:metrics-core:2.2.0",
                "org.pcollections:pcollections:4.0.2",
                "com.google.re2j:re2j:1.8",
                "com.typesafe.scala-logging:scala-logging_2.13:3.9.6",
            ),
        )
    ),
    (*_JSON, "jackson-dataformat-yaml", "snakeyaml", *_LOGGING, *_CODECS, "scala-library"),
)

# The candidates of each set, in the order in which they are tried.
SETS: dict[str, tuple[JarSet, ...]] = {
    # Codecs and slf4j are already on Spark's class path.
    "kafka-clients": (JarSet(_kafka("kafka-clients")),),
    "kafka-broker": (_BROKER,),
    "kafka-streams": (
        JarSet(
            (*_kafka("kafka-streams", "kafka-clients"), _library("org.rocksdb:rocksdbjni:10.1.3")),
            (*_JSON, *_LOGGING, *_CODECS),
        ),
    ),
    # Spark's connector is not released together with every version of Spark; the second is known to work.
    "spark-kafka": (
        _connector(version("pyspark"), version("pyspark"), "2.13.1", "3.9.2"),
        _connector("4.2.0", "4.1.0-preview1", "2.13.1", "3.9.2"),
    ),
}
