"""Readings of the CPU time that the JVM of a Spark session has used."""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession


def cpu_clock(session: SparkSession) -> Callable[[], int]:
    """Return a function that returns the JVM's CPU time, user and system, in nanoseconds.

    Java's own counters advance in steps of 10 ms, which is a twentieth of a small batch; the system's clock
    of a process, if there is one, is exact and costs the JVM nothing.
    """
    process: Any = session._jvm.java.lang.ProcessHandle.current()  # type: ignore[union-attr]
    if sys.platform == "linux":
        identity = ctypes.c_int()
        if ctypes.CDLL(None).clock_getcpuclockid(process.pid(), ctypes.byref(identity)) == 0:
            return lambda: time.clock_gettime_ns(identity.value)
    return lambda: int(process.info().totalCpuDuration().get().toNanos())
