"""What every test may ask for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from pyspark.sql import SparkSession

    from brookmere.broker import Broker


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--refresh", action="store_true", help="rewrite the expected text files")
    parser.addoption("--no-java", action="store_true", help="fail tests that start Java: Spark or a broker")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--no-java"):
        sys.addaudithook(_refuse_java)


def _refuse_java(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "subprocess.Popen" and Path(str(arguments[0])).name in ("java", "spark-submit"):
        pytest.fail("This test starts Java, so it is not a quick one: run it with make test")


@pytest.fixture
def expect_text(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compare a text with a checked-in file, or rewrite the file under --refresh."""

    def expect(file: Path, actual: str) -> None:
        if request.config.getoption("--refresh"):
            file.write_text(actual)
        assert actual == file.read_text()

    return expect


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The one Spark session of the test run; tests that need no Spark do not pay for it."""
    from brookmere.run.query.session import spark_session

    session = spark_session()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """The one Kafka of the test run, with one broker; it ends with the run, even if that is killed."""
    from brookmere.broker import Broker

    broker = Broker(tmp_path_factory.mktemp("kafka"), tied=True)
    broker.start()
    yield broker
    broker.kill()


@pytest.fixture
def browser() -> Iterator[Browser]:
    """A real Chromium, fetched into the cache where none is installed; a failure where that is impossible.

    It lives for one test: Playwright runs an event loop in the thread of its caller as long as it is up.
    """
    from tests.chromium import launched
    from tests.debian_packages import NotFetchedError

    try:
        with launched() as started:
            yield started
    except NotFetchedError as failure:
        pytest.fail(f"This test needs a browser: {failure}. Install one: apt-get install chromium")
