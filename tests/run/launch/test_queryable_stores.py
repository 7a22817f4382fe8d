"""Replicas know the stores of a program well enough to read their topics."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.run.launch.check import describe_stores
from brookmere.serde import BadBytes
from brookmere.state import StoreInfo
from brookmere.state.description.store_file import read_stores
from tests.run.homes import Home
from tests.run.launch.test_changelog_records import GIVEN, everything, shown, write

pytestmark = pytest.mark.usefixtures("spark")

MINUTE = timedelta(minutes=1)


@dataclass
class Place:
    city: str
    zone: int


@dataclass
class Reading:
    place: Place
    degrees: float


def windowed(info: StoreInfo) -> bm.Serde:
    if info.kind == "session":
        return bm.Windowed(info.key, session=True)
    size = None if not info.window_ms else timedelta(milliseconds=info.window_ms)
    return bm.Windowed(info.key, size=size) if info.kind == "window" else info.key


def rows(home: Home, info: StoreInfo) -> dict[Any, Any]:
    """Return what the topic of a store tells, and check that keys are written as they stand there."""
    found: dict[Any, Any] = {}
    topic, key = home.topics[info.topic], windowed(info)
    for partition in range(topic.partitions):
        for record in topic.read(partition):
            asked = key.deserialize(record.key)
            assert key.serialize(asked) == record.key
            found.pop(named(asked), None)
            if record.value is not None:
                found[named(asked)] = info.value.deserialize(record.value), record.timestamp
    return found


def named(key: Any) -> Any:
    if isinstance(key, bm.WindowedKey):
        return named(key.key), key.start, key.end
    return tuple(key.values()) if isinstance(key, dict) else key


def described(home: Home, program: bm.StreamsBuilder, **settings: Any) -> dict[str, StoreInfo]:
    application = home.application(program, **settings)
    return {info.name: info for info in describe_stores(program, application.config)}


def test_serdes_of_stores_read_the_rows_of_the_test_driver(home: Home) -> None:
    program, serdes = everything()
    for topic in GIVEN:
        home.topics.create(topic, partitions=2)
    write(home, GIVEN)
    application = home.run(program)

    stores = described(home, program)

    assert set(stores) == set(serdes)
    assert read_stores(application.state_directory) == list(stores.values())
    expected = shown(program, [GIVEN], list(stores), "last")
    assert {name: rows(home, info) for name, info in stores.items()} == expected


def test_windows_are_described_with_their_size_and_retention(home: Home) -> None:
    app = bm.StreamsBuilder("spans", key=bm.Text(), value=bm.Text())
    grouped = app.stream("in").group_by_key()
    hour = timedelta(hours=1)
    grouped.windowed_by(bm.TimeWindows(MINUTE)).count(store="tumbling", retention=hour)
    grouped.windowed_by(bm.SlidingWindows(MINUTE)).count(store="sliding", retention=hour)
    grouped.windowed_by(bm.SessionWindows(MINUTE)).count(store="sessions", retention=hour)
    grouped.windowed_by(bm.UnlimitedWindows()).count(store="unlimited")
    app.table("names", store="versions", history=hour)
    home.topics.create("in")
    home.topics.create("names")

    stores = described(home, app)

    told = {name: (info.kind, info.key, info.window_ms, info.retention_ms) for name, info in stores.items()}
    assert told == {
        "tumbling": ("window", bm.Text(), 60_000, 3_600_000),
        "sliding": ("window", bm.Text(), 60_000, 3_600_000),
        "sessions": ("session", bm.Text(), None, 3_600_000),
        "unlimited": ("window", bm.Text(), None, None),
        "versions": ("versioned", bm.Text(), None, 3_600_000),
    }


def test_struct_keys_and_values_without_serde_are_described_by_their_types(home: Home) -> None:
    home.write("in", "2024-02-29 12:00:00.5")
    app = bm.StreamsBuilder("typed", key=bm.Text(), value=bm.Text())
    table = app.stream("in").to_table()
    table.map_values(lambda value: value.cast("date"), store="days")
    table.map_values(lambda value: F.struct(value.cast("timestamp").alias("at")), store="times")
    table.map_values(lambda value: F.lit("1.5").cast("decimal(10,2)"), store="prices")
    table.group_by(
        lambda key, value: (F.struct(F.length(value).alias("n"), (F.lit(1e9) / 7).alias("d")), value)
    ).count(store="by-struct")
    table.group_by(lambda key, value: (F.lit(0.1).cast("float"), value)).count(store="by-float")
    by_struct = app.stream("in").group_by(lambda _, value: F.struct(F.length(value).alias("n")))
    by_struct.windowed_by(bm.TimeWindows(MINUTE)).count(store="windows")
    by_struct.windowed_by(bm.SessionWindows(MINUTE)).count(store="sessions").filter(
        lambda count: count > 0, store="filtered"
    )
    home.run(app)

    stores = described(home, app)

    moment = datetime(2024, 2, 29, 12, 0, 0, 500_000, UTC)
    assert {
        name: {key: value for key, (value, _) in rows(home, info).items()} for name, info in stores.items()
    } == {
        "days": {"k": date(2024, 2, 29)},
        "times": {"k": {"at": moment}},
        "prices": {"k": Decimal("1.50")},
        "by-struct": {(21, 1e9 / 7): 1},
        "by-float": {0.10000000149011612: 1},
        "windows": {((21,), 0, 60_000): 1},
        "sessions": {((21,), 0, 0): 1},
        "filtered": {((21,), 0, 0): 1},
    }


def test_a_table_read_from_a_topic_has_the_serdes_of_its_source(home: Home) -> None:
    app = bm.StreamsBuilder("weather")
    app.table("readings", key=bm.Json(Place), value=bm.Json(Reading), store="latest")
    app.global_table("towns", key=bm.Int(), value=bm.Text(), store="towns")
    home.topics.create("readings")
    home.topics.create("towns")

    stores = described(home, app)

    latest, towns = stores["latest"], stores["towns"]
    assert (latest.topic, latest.is_source, latest.is_global) == ("readings", True, False)
    assert latest.key.serialize(Place("Ulm", 7)) == b'{"city":"Ulm","zone":7}'
    assert latest.key.deserialize(b'{"zone":7,"city":"Ulm"}') == {"city": "Ulm", "zone": 7}
    with pytest.raises(BadBytes, match="degrees is null"):
        latest.value.deserialize(b'{"place":{"city":"Ulm","zone":7}}')
    assert (towns.topic, towns.is_source, towns.is_global) == ("towns", True, True)
    assert (towns.key, towns.value) == (bm.Int(), bm.Text())


def test_the_registry_of_the_settings_is_described_with_the_serde(home: Home) -> None:
    app = bm.StreamsBuilder("framed", key=bm.Text(), value=bm.Avro(Place))
    app.table("places", store="places")
    home.topics.create("places")

    places = described(home, app, schema__registry__url="mock://queryable")["places"]

    placed = bm.Avro(Place, registry="mock://queryable").for_topic("places", is_key=False)
    assert places.value.deserialize(placed.serialize(Place("Ulm", 7))) == {"city": "Ulm", "zone": 7}


def test_stores_without_changelog_are_left_out(home: Home) -> None:
    app = bm.StreamsBuilder("quiet", key=bm.Text(), value=bm.Text())
    app.stream("in").group_by_key().count()
    app.stream("in").group_by_key().count(store="off")
    home.topics.create("in")

    assert described(home, app, changelog__disabled="off") == {}
