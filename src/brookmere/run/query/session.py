"""The Spark session of a process, with the kernel on its class path."""

from __future__ import annotations

import logging
import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from brookmere.errors import EngineError
from brookmere.jars import resolve
from brookmere.kernel.archive import archive_flags
from brookmere.kernel.build import kafka_jar, kernel_jar, spark_jars
from brookmere.kernel.cache import cache_directory, ensure_directory
from brookmere.kernel.java import prepare_environment

logger = logging.getLogger(__name__)

_STATE = "spark.sql.streaming.stateStore"
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    f"{_STATE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    # Counting rows costs a read per write, and the kernel counts what it needs.
    f"{_STATE}.rocksdb.trackTotalNumberOfRows": "false",
    # The default manager starts processes to set permissions: some 50 ms per file on a local disk.
    "spark.sql.streaming.checkpointFileManagerClass": ("org.apache.spark.sql.brookmere.LocalCheckpoints"),
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}
_LOCAL = {
    # Local Spark talks only to itself; the host name may resolve to an address of another machine.
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
_MAX_LOG_BYTES = 10 << 20
_SHOWN_LOG_LINES = 20
_starting = threading.Lock()


def spark_session(
    *,
    master: str = "local[2]",
    partitions: int = 2,
    memory: str = "2g",
    log: Path | None = None,
    settings: Mapping[str, str] | None = None,
    kafka: bool = False,
    jars: Path | None = None,
    **overrides: str,
) -> SparkSession:
    """Return the Spark session of this process, with the kernel on its class path.

    With `kafka` it can also run on Kafka: Kafka's clients come from the directory `jars`, or are downloaded
    once. `settings` and `overrides` are those of Spark, `overrides` with `__` for each dot. Java and Spark
    log to the file `log`, by default to spark.log in the cache directory. A session that already runs is used
    if it has the kernel; only those settings of streaming and state change that still can.
    """
    with _starting:
        _load_quietly()
        running = SparkSession.getActiveSession() or SparkSession._instantiatedSession
        if running is not None:
            check_kernel(running)
            if kafka:
                _add_kafka(running, jars)
            for name, value in _SETTINGS.items():
                if name.startswith("spark.sql.streaming."):
                    running.conf.set(name, value)
            return running
        chosen = {
            "spark.master": master,
            "spark.app.name": "brookmere",
            **_SETTINGS,
            "spark.jars": ",".join(map(str, [kernel_jar(), *(_kafka_jars(jars) if kafka else ())])),
            "spark.driver.memory": memory,
            # When a query stops, Spark matches the text of an interrupted call with a recursive pattern.
            "spark.driver.extraJavaOptions": "-Xss8m",
            "spark.sql.shuffle.partitions": str(partitions),
            **(settings or {}),
            **{name.replace("__", "."): value for name, value in overrides.items()},
        }
        flags = chosen["spark.driver.extraJavaOptions"]
        if "Archive" not in flags:
            chosen["spark.driver.extraJavaOptions"] = " ".join([flags, *archive_flags(spark_jars())])
        if chosen["spark.master"].startswith("local"):
            chosen = {**_LOCAL, **chosen}
            # Otherwise Spark resolves the host name, which may have no address at all.
            os.environ.setdefault("SPARK_LOCAL_IP", _LOCAL["spark.driver.host"])
        session = _start(chosen, log or cache_directory() / "spark.log")
        check_kernel(session)
        return session


def _kafka_jars(directory: Path | None) -> Sequence[Path]:
    clients = resolve("kafka-clients", directory)
    return [kafka_jar(clients), *clients]


def _add_kafka(session: SparkSession, directory: Path | None) -> None:
    """Add the jars for Kafka to a session that already runs."""
    jvm: Any = session._jvm
    if _knows(jvm.brookmere.kernel.kafka.KafkaPlaces):
        return
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    for jar in _kafka_jars(directory):
        # The first is for this process, the second for executors elsewhere.
        loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())
        session.sparkContext._jsc.addJar(str(jar))


def _knows(name: object) -> bool:
    """Whether the JVM has a class: it takes unknown names for packages."""
    return type(name).__name__ == "JavaClass"


def _load_quietly() -> None:
    """Load what PySpark loads at its first call with a list, without its warning about pandas."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        import_module("pyspark.testing.utils")


def _start(settings: Mapping[str, str], log: Path) -> SparkSession:
    if SparkContext._gateway is None:
        _start_java(settings, log)
    builder: Any = SparkSession.builder
    for name, value in settings.items():
        builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    return session


def _start_java(settings: Mapping[str, str], log: Path) -> None:
    """Start the JVM of this process, with its output and Spark's log in a file.

    The terminal belongs to the user's program.
    """
    prepare_environment()
    conf = SparkConf(loadDefaults=False)
    for name, value in settings.items():
        conf.set(name, value)
    ensure_directory(log.parent)
    with log.open("ab") as file:
        if file.tell() > _MAX_LOG_BYTES:
            file.truncate(0)
        before = file.tell()
        logger.debug("starting Java; it writes to %s", log)
        try:
            launch: Any = launch_gateway
            gateway = launch(conf, {"stdout": file, "stderr": file})
        except PySparkException as error:
            raise EngineError(_did_not_start(log, before)) from error
    SparkContext._ensure_initialized(gateway=gateway)


def _did_not_start(log: Path, position: int) -> str:
    with log.open("rb") as file:
        file.seek(position)
        said = file.read().decode(errors="replace").strip().splitlines()[-_SHOWN_LOG_LINES:]
    return (
        "Spark's Java process ended before it was ready.\n"
        + "".join(f"  {line}\n" for line in said or ["It wrote nothing."])
        + f"Its whole output is in {log}. Fix what it reports: often a spark.* setting, or the memory."
    )


def check_kernel(session: SparkSession) -> None:
    """Refuse a session that cannot load the kernel."""
    package: Any = session._jvm
    if not _knows(package.brookmere.kernel.program.ProgramBuilder):
        raise EngineError(
            "This Spark session was started without Brookmere's kernel, so it cannot run a topology. "
            "Stop it and start it with brookmere.run.spark_session(), or put the jar that "
            "brookmere.kernel.build.kernel_jar() names into its setting spark.jars."
        )
