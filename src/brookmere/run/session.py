"""Turns settings into a Spark session that carries the kernel."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from brookmere.errors import EngineError
from brookmere.kernel.build import kernel_jar
from brookmere.kernel.java import prepare_environment

_STATE = "spark.sql.streaming.stateStore"
_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    f"{_STATE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    # Counting rows costs a read per write; the kernel counts what it needs itself.
    f"{_STATE}.rocksdb.trackTotalNumberOfRows": "false",
    # The default manager takes some 50 ms per log entry on a local disk.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
}


def spark_session(
    *, master: str = "local[2]", partitions: int = 2, memory: str = "2g", **overrides: str
) -> SparkSession:
    """Return the Spark session of this process, with the kernel on its class path.

    `overrides` are Spark settings with `__` for each dot. A session that runs already is used if it has the
    kernel; it gets the settings of streaming and state that can still be set, and keeps all others.
    """
    running = SparkSession.getActiveSession()
    if running is not None:
        check_kernel(running)
        for name, value in _SETTINGS.items():
            if name.startswith("spark.sql.streaming."):
                running.conf.set(name, value)
        return running
    prepare_environment()
    builder: Any = SparkSession.builder.master(master).appName("brookmere")
    settings = {
        **_SETTINGS,
        "spark.jars": str(kernel_jar()),
        "spark.driver.memory": memory,
        # Stopping a query makes Spark match the whole text of an interrupted call with a recursive pattern.
        "spark.driver.extraJavaOptions": "-Xss8m",
        "spark.sql.shuffle.partitions": str(partitions),
        **{name.replace("__", "."): value for name, value in overrides.items()},
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    check_kernel(session)
    return session


def check_kernel(session: SparkSession) -> None:
    """Refuse a session that cannot load the kernel."""
    package: Any = session._jvm
    if type(package.brookmere.kernel.program.ProgramBuilder).__name__ != "JavaClass":
        raise EngineError(
            "This Spark session was started without Brookmere's kernel, so it cannot run a topology. "
            "Stop it and start it with brookmere.run.spark_session(), or put the jar that "
            "brookmere.kernel.build.kernel_jar() names into its setting spark.jars."
        )
