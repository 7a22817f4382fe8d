"""A serde written outside the package works where a built-in does: driver, application, replica, HTTP."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path

import httpx
import pytest

import brookmere as bm
from brookmere.serve import Server, create_api
from brookmere.state.description.store_file import read_stores
from brookmere.testing import TopologyTestDriver
from tests.run.homes import Home
from tests.run.programs import fault_of
from tests.serde.own_serdes import Day, Money

pytestmark = pytest.mark.usefixtures("spark")

LEAP = date(2024, 2, 29)
ROOT = Path(__file__).parents[2]


def sums() -> bm.StreamsBuilder:
    """Adds up the amounts of each day."""
    app = bm.StreamsBuilder("sums", key=Day(), value=Money())
    totals = app.stream("sales").group_by_key().reduce(
        lambda total, amount: (total + amount).cast("decimal(18,2)"), store="totals"
    )  # fmt: skip
    totals.to_stream().to("out")
    return app


def test_driver_reads_and_writes_it() -> None:
    with TopologyTestDriver(sums()) as driver:
        feed = driver.input_topic("sales")
        feed.pipe_input(LEAP, Decimal("12.50"))
        feed.pipe_input(LEAP, Decimal("0.49"))

        assert driver.output_topic("out").read_key_values_to_list() == [
            (LEAP, Decimal("12.50")),
            (LEAP, Decimal("12.99")),
        ]


def test_bytes_that_are_none_are_a_bad_record() -> None:
    with TopologyTestDriver(sums(), on_error="continue") as driver:
        driver.input_topic("sales", value=bm.Bytes()).pipe_input(LEAP, b"12.50")

        (error,) = driver.errors
        assert error.message == "expected 8 bytes for a Long, found 5"


def test_type_that_does_not_fit_is_refused() -> None:
    fault = fault_of(lambda stream: stream.map_values(lambda v: v.n).to("out", value=Money(), name="sink"))

    assert fault.what == "The value written by sink has the type int, which Money does not write"
    assert fault.remedy == "Cast it to decimal(18,2), or use the serde of its type"


def test_application_replicas_http_and_another_process_read_it(home: Home) -> None:
    home.topics.create("sales")
    with home.topics.producer("sales", key=Day(), value=Money()) as producer:
        producer.send(LEAP, Decimal("12.50"), timestamp=1)
        producer.send(LEAP, Decimal("0.49"), timestamp=2)

    with home.application(sums()) as application:
        application.process_all_available()
        store = application.store("totals", type=bm.queries.KeyValueStore)
        assert store.get(LEAP) == Decimal("12.99")

    stores = read_stores(application.state_directory)
    with bm.Replica("sums", stores, home.topics, in_memory=True) as replica:
        found = replica.store("totals", type=bm.queries.KeyValueStore).wait()
        assert list(found.all()) == [(LEAP, Decimal("12.99"))]
        with Server(create_api(replica), port=0) as server, httpx.Client(base_url=server.url) as client:
            row = client.get("/stores/totals/2024-02-29").json()
            (listed,) = client.get("/stores/totals").json()["rows"]
            document = client.get("/openapi.json").json()
            refused = client.get("/stores/totals/soon").json()
    assert (row["key"], row["value"]) == (listed["key"], listed["value"]) == ("2024-02-29", "12.99")
    assert r"^-?\\d+\\.\\d+$" in json.dumps(document)
    assert refused["expected"] == "a day such as 2024-02-29"

    asked = ["query", "sums", "totals", "2024-02-29", "--topics-dir", str(home.topics.directory)]
    shown = subprocess.run(
        [sys.executable, "-m", "brookmere", *asked, "--state-dir", str(home.directory / "state")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["value"] == "12.99"
