"""The Spark session that carries the kernel, and one that does not."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from brookmere.run import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WITHOUT_KERNEL = """
from pyspark.sql import SparkSession

import brookmere as bm
from brookmere.kernel.java import prepare_environment
from brookmere.testing import TopologyTestDriver

prepare_environment()
SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
app.stream("in").to("out")
try:
    TopologyTestDriver(app)
except bm.EngineError as error:
    print(error)
"""


def test_running_session_is_used(spark: SparkSession) -> None:
    assert spark_session() is spark


def test_session_without_the_kernel_is_refused_with_a_remedy() -> None:
    outcome = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", WITHOUT_KERNEL], capture_output=True, text=True, check=False
    )

    assert outcome.returncode == 0, outcome.stderr
    assert "started without Brookmere's kernel" in outcome.stdout
    assert "brookmere.run.spark_session()" in outcome.stdout
