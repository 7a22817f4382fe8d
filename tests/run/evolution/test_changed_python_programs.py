"""A program with Python code that changes between two runs keeps the state of the stores that stay."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from tests.run.evolution.versions import builder, latest, put
from tests.run.homes import Home

pytestmark = pytest.mark.usefixtures("spark")


class Counting(bm.Processor):
    """Counts the records of each key in a store."""

    def process(self, record: bm.Record[Any, Any]) -> None:
        store = self.context.store("seen")
        count = (store.get(record.key) or 0) + 1
        store.put(record.key, count)
        self.context.forward(record.with_value(str(count)))


def upper(value: str) -> str:
    return value.upper()


def program(*, is_moved: bool) -> bm.StreamsBuilder:
    """A store that Python keeps, and a join with what Python makes of a table; moved behind a repartition."""
    app = builder()
    names = app.table("names", store="names").map_values(bm.python(upper), name="shouted")
    stream = app.stream("in")
    if is_moved:
        stream = stream.map_values(bm.python(upper)).group_by(lambda key, value: key).count().to_stream()
        stream = stream.select_key(lambda key, value: key).map_values(lambda value: value.cast("string"))
        stream = stream.repartition("again")
    seen = bm.key_value_store("seen", key=str, value=int)
    counted = stream.process_values(Counting, stores=[seen], value=str, name="counting")
    counted.join(names, lambda count, name: F.concat(count, F.lit(" "), name)).to("out")
    return app


def test_stores_that_python_keeps_and_copies_of_its_tables_move_with_their_rows(home: Home) -> None:
    put(home, "names", ("a", "Ann", 0), ("b", "Bob", 0), partitions=2)
    home.topics.create("in", 2)
    home.run(program(is_moved=False))
    put(home, "in", ("a", "x", 1), ("b", "x", 1), ("a", "x", 2), partitions=2)
    home.run(program(is_moved=False))
    first = latest(home, "out", bm.Text())
    put(home, "in", ("a", "x", 3), ("b", "x", 3), partitions=2)

    found = home.application(program(is_moved=True)).check()
    home.run(program(is_moved=True))

    assert first == {"a": "2 ANN", "b": "1 BOB"}
    assert found is not None
    assert found.is_possible
    assert {f.store: f.outcome for f in found.findings if not f.store.startswith("KSTREAM")} == {
        "names": "kept",
        "seen": "moved",
    }
    assert latest(home, "out", bm.Text()) == {"a": "3 ANN", "b": "2 BOB"}
