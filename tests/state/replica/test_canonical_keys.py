"""Checks that equal keys of a table's own topic are one row, however they were written."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

import brookmere as bm
from brookmere.serde.json.spark_json import SparkJson
from brookmere.state import Replica, StoreInfo

POINT = SparkJson(
    '{"type":"struct","fields":['
    '{"name":"x","type":"long","nullable":true,"metadata":{}},'
    '{"name":"y","type":"long","nullable":true,"metadata":{}}]}'
)


@pytest.mark.parametrize(
    "serde", [bm.Text(), bm.Long(), bm.Avro("a int"), bm.Windowed(bm.Text(), timedelta(seconds=1))]
)
def test_keys_with_one_form_stay_as_they_are(serde: bm.Serde) -> None:
    assert serde.canonical() is None


def test_an_id_of_a_registry_is_left_out() -> None:
    serde = bm.Avro("a int", registry="mock://kept").for_topic("t", is_key=True)

    kept = bm.Windowed(serde, session=True).canonical()

    assert kept == bm.Windowed(bm.Avro("a int", registry=False), session=True)


def test_a_schema_of_the_registry_is_asked_for() -> None:
    bm.Avro("a int", registry="mock://asked").for_topic("t", is_key=True).serialize({"a": 1})
    serde = bm.Avro(registry="mock://asked").for_topic("t", is_key=True)

    kept = serde.canonical()

    assert kept is not None
    assert kept.serialize({"a": 1}) == bm.Avro("a int").serialize({"a": 1})


def test_members_of_a_key_in_any_order_are_one_row(tmp_path: Path) -> None:
    topics = bm.Topics(tmp_path)
    topics.create("points").append(
        [bm.Record(b'{"x":1,"y":2}', b"old", 0), bm.Record(b'{ "y": 2, "x": 1 }', b"new", 1)]
    )
    info = StoreInfo("points", "key_value", "points", POINT, bm.Text(), is_source=True)

    with Replica("app", [info], topics, in_memory=True) as replica:
        points = replica.store("points", type=bm.queries.KeyValueStore).wait()

        assert list(points.all()) == [({"x": 1, "y": 2}, "new")]
        assert points.get({"y": 2, "x": 1}) == "new"
