"""Facts about the machine and the session, to print with the numbers."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession


def facts(session: SparkSession) -> dict[str, str]:
    """Return what the numbers depend on. Call it before the first query, to record the load before it."""
    jvm: Any = session._jvm
    heap = jvm.java.lang.Runtime.getRuntime().maxMemory() / 2**30
    version = jvm.java.lang.System.getProperty("java.vm.version")
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "processor": f"{os.cpu_count()} x {_processor()}",
        "memory": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GiB",
        "system": f"{platform.system()} {platform.release()}",
        "load before": load(),
        "java": f"{jvm.java.lang.System.getProperty('java.vm.name')} {version}, heap {heap:.1f} GiB",
        "python": platform.python_version(),
        "spark": f"{session.version}, master {session.sparkContext.master}, "
        f"{session.conf.get('spark.sql.shuffle.partitions')} shuffle partitions",
    }


def load() -> str:
    """Return the load of the last one, five and fifteen minutes."""
    return ", ".join(f"{value:.1f}" for value in os.getloadavg())


def _processor() -> str:
    described = Path("/proc/cpuinfo")
    if described.exists():
        for line in described.read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()
