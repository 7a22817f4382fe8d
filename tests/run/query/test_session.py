"""The Spark session that carries the kernel, and one that does not."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
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
except bm.errors.EngineError as error:
    print(error)
"""


QUIET = """
import sys
from pathlib import Path

from brookmere.run import spark_session

spark = spark_session(log=Path(sys.argv[1]), settings={"spark.app.name": "quiet"})
error = spark.sparkContext._jvm.org.slf4j.LoggerFactory.getLogger("test")
error.error("something is wrong")
print(spark.conf.get("spark.app.name"), spark.conf.get("spark.sql.shuffle.partitions"))
"""

BROKEN = """
import brookmere as bm
from brookmere.run import spark_session

try:
    spark_session(memory="5 parsecs")
except bm.errors.EngineError as error:
    print(error)
"""


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_running_session_is_used(spark: SparkSession) -> None:
    assert spark_session() is spark


def test_running_session_is_used_by_other_threads(spark: SparkSession) -> None:
    with ThreadPoolExecutor() as threads:
        assert threads.submit(spark_session).result() is spark


def test_terminal_stays_clean_and_the_log_has_what_spark_says(tmp_path: Path) -> None:
    log = tmp_path / "state" / "spark.log"

    outcome = run(QUIET, str(log))

    assert (outcome.stdout, outcome.stderr) == ("quiet 2\n", "")
    assert "ERROR test: something is wrong" in log.read_text()


def test_java_that_does_not_start_is_reported_with_its_output() -> None:
    outcome = run(BROKEN)

    assert outcome.stderr == ""
    assert "Spark's Java process ended before it was ready." in outcome.stdout
    assert "parsecs" in outcome.stdout
    assert "spark.log" in outcome.stdout


def test_session_without_the_kernel_is_refused_with_a_remedy() -> None:
    outcome = run(WITHOUT_KERNEL)

    assert outcome.returncode == 0, outcome.stderr
    assert "started without Brookmere's kernel" in outcome.stdout
    assert "brookmere.run.spark_session()" in outcome.stdout


def test_local_spark_does_not_look_up_the_name_of_the_machine(spark: SparkSession) -> None:
    assert os.environ["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert spark.conf.get("spark.driver.host") == "127.0.0.1"


def test_running_session_gets_what_kafka_needs(spark: SparkSession) -> None:
    session = spark_session(kafka=True)

    assert session is spark
    assert type(session._jvm.brookmere.kernel.kafka.KafkaPlaces).__name__ == "JavaClass"  # type: ignore[union-attr]
