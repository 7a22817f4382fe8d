"""The stores of a running application can be queried, with the results of the test driver."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.errors import (
    PositionError,
    StoreNotReadyError,
    StoreTypeError,
    UnknownStoreError,
)
from brookmere.state import CountQuery, KeyValueStore, WindowStore
from brookmere.state.replica.places import replica_directory
from tests.run.homes import Home, count

pytestmark = pytest.mark.usefixtures("spark")

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


def every_kind() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("kinds", key=bm.Text(), value=bm.Text())
    grouped = app.stream("in").group_by_key()
    grouped.count(store="counts")
    grouped.windowed_by(bm.TimeWindows(MINUTE)).count(store="minutes", retention=timedelta(minutes=2))
    grouped.windowed_by(bm.SlidingWindows(MINUTE)).count(store="sliding", retention=HOUR)
    grouped.windowed_by(bm.SessionWindows(MINUTE)).count(store="sessions", retention=HOUR)
    table = app.stream("in").to_table()
    table.map_values(lambda value: F.length(value).cast("float"), store="lengths")
    table.map_values(lambda _: F.lit("2024-02-29").cast("date"), store="days")
    table.map_values(lambda value: F.struct(value.alias("v"), F.lit(b"x").alias("raw")), store="structs")
    table.group_by(lambda _, value: (F.struct(F.length(value).alias("n"), value.alias("v")), value)).count(
        store="by-struct"
    )
    app.table("prices", store="prices", history=HOUR)
    app.table("names", store="names", value=bm.Json("name string, age int"))
    app.global_table("towns", store="towns", key=bm.Int(), value=bm.Text())
    return app


GIVEN = {
    "in": [
        ("a", "x", 0),
        ("b", "yy", 10_000),
        ("a", "zzz", 59_999),
        ("a", "x", 60_000),
        ("b", None, 70_000),
        ("a", "yy", 200_000),
    ],
    "prices": [("tea", "1", 1_000), ("tea", "3", 3_000), ("tea", "2", 2_000), ("cake", "9", 1_000)],
    "names": [
        ("ada", '{"age":36,"name":"Ada"}', 1),
        ("bob", '{"name":1,"age":"old"}', 2),
        ("bob", '{"name":"Bob"}', 3),
        ("eve", "{", 4),
        (None, '{"name":"Nobody"}', 5),
    ],
    "towns": [(b"\x00\x00\x00\x07", "Ulm", 1), (b"\x00\x00", "?", 2)],
}


def fill(home: Home, given: Any = None) -> None:
    for topic, records in (given or GIVEN).items():
        home.topics.create(topic, exist_ok=True).append(
            bm.Record(key if not isinstance(key, str) else key.encode(), value and value.encode(), ts)
            for key, value, ts in records
        )


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[bm.Application]:
    home = Home(tmp_path_factory.mktemp("kinds"))
    fill(home)
    settings = {"deserialization__exception__handler": "continue"}
    with home.application(every_kind(), **settings) as application:
        application.process_all_available()
        yield application


def test_a_key_value_store_is_queried_by_key_and_range(asked: bm.Application) -> None:
    counts = asked.store("counts", type=KeyValueStore)

    assert counts.get("a") == 4
    assert counts.get_with_timestamp("b") == (1, 10_000)
    assert counts.get("c") is None
    assert list(counts.all()) == [("a", 4), ("b", 1)]
    assert list(counts.range("b", reverse=True)) == [("b", 1)]
    assert counts.count() == 2


def test_windows_are_queried_by_key_and_time_and_expire(asked: bm.Application) -> None:
    minutes = asked.store("minutes", type=WindowStore)

    # Two minutes behind the last window everything is forgotten, as in the application.
    assert list(minutes.all()) == [(bm.WindowedKey("a", 180_000, 240_000), 1)]
    assert minutes.get("a", 180_000) == 1
    assert minutes.get("a", 0) is None


def test_sliding_windows_end_where_the_difference_says(asked: bm.Application) -> None:
    sliding = asked.store("sliding")

    keys = [key for key, _ in sliding.fetch("b")]

    assert all(key.end - key.start == 60_000 for key in keys)
    assert bm.WindowedKey("b", 0, 60_000) in keys


def test_sessions_are_queried_by_key(asked: bm.Application) -> None:
    sessions = asked.store("sessions")

    assert list(sessions.fetch("a")) == [
        (bm.WindowedKey("a", 0, 60_000), 3),
        (bm.WindowedKey("a", 200_000, 200_000), 1),
    ]
    assert list(sessions.find("a", 100_000, 300_000)) == [(bm.WindowedKey("a", 200_000, 200_000), 1)]


def test_versions_are_queried_as_of_a_time(asked: bm.Application) -> None:
    prices = asked.store("prices")

    assert prices.get("tea") == "3"
    assert prices.get("tea", as_of=2_500) == "2"
    assert [(v.value, v.since, v.until) for v in prices.versions("tea")] == [
        ("1", 1_000, 2_000),
        ("2", 2_000, 3_000),
        ("3", 3_000, None),
    ]


def test_types_without_a_serde_of_their_own_come_as_python_values(asked: bm.Application) -> None:
    assert asked.store("lengths").get("a") == 2.0
    assert asked.store("days").get("a") == date(2024, 2, 29)
    assert asked.store("structs").get("a") == {"v": "yy", "raw": b"x"}


def test_struct_keys_are_queried_as_dicts_in_any_order(asked: bm.Application) -> None:
    by_struct = asked.store("by-struct")

    assert by_struct.get({"v": "yy", "n": 2}) == 1
    assert list(by_struct.all()) == [({"n": 2, "v": "yy"}, 1)]


def test_a_table_of_a_topic_has_no_rows_of_bad_records(asked: bm.Application) -> None:
    names = asked.store("names")

    assert list(names.all()) == [
        ("ada", {"name": "Ada", "age": 36}),
        ("bob", {"name": "Bob", "age": None}),
    ]


def test_a_global_table_is_queried_like_any_other(asked: bm.Application) -> None:
    assert list(asked.store("towns").all()) == [(7, "Ulm")]


def test_an_unknown_store_is_refused_with_the_nearest_name(asked: bm.Application) -> None:
    with pytest.raises(UnknownStoreError, match="Did you mean 'counts'"):
        asked.store("count")


def test_a_store_of_another_type_is_refused(asked: bm.Application) -> None:
    with pytest.raises(StoreTypeError, match="'counts' is not a WindowStore"):
        asked.store("counts", type=WindowStore)


def test_a_position_of_an_unknown_topic_is_refused(asked: bm.Application) -> None:
    with pytest.raises(PositionError, match="'elsewhere'"):
        asked.store("counts").at_least({"elsewhere": {0: 1}})


def test_a_position_that_nobody_has_written_is_not_reached(asked: bm.Application) -> None:
    with pytest.raises(PositionError, match="not processed everything"):
        asked.store("counts").at_least({"in": {0: 1_000_000}}, timeout="0.1s")


def test_a_result_says_what_was_read(asked: bm.Application) -> None:
    result = asked.store("counts").query(CountQuery())

    assert result.inputs["in"] == {0: 6}
    assert result.position.keys() == {"kinds-counts-changelog"}


def test_stores_are_found_by_name_and_replicated_when_used(asked: bm.Application) -> None:
    assert set(asked.stores) == {
        "counts", "minutes", "sliding", "sessions", "lengths", "days", "structs", "by-struct", "prices",
        "names", "towns",
    }  # fmt: skip
    assert asked.stores["counts"].wait().get("a") == 4


def test_only_stores_that_were_used_are_replicated(home: Home) -> None:
    home.write("in", "x")
    with home.application(every_kind_but_tables()) as application:
        application.store("counts")

        assert [each.name for each in application.stores.status()] == ["counts"]


def every_kind_but_tables() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("some", key=bm.Text(), value=bm.Text())
    grouped = app.stream("in").group_by_key()
    grouped.count(store="counts")
    grouped.reduce(lambda a, b: b, store="last")
    grouped.count()
    return app


def test_one_reads_what_one_has_written(home: Home) -> None:
    topic = home.topics.create("in")
    with home.application(every_kind_but_tables()) as application:
        counts = application.store("counts")

        for number in range(1, 6):
            offsets = topic.append([bm.Record(b"k", b"v", number)]).offsets
            written = {"in": {partition: found.stop for partition, found in offsets.items()}}

            assert counts.at_least(written, timeout="30s").get("k") == number


def test_a_start_continues_with_the_files_of_the_last_one(home: Home) -> None:
    home.write("in", "x", "y")
    with home.application(count()) as application:
        application.process_all_available()
        assert application.store("counts").get("k") == 2
    home.write("in", "z")

    with home.application(count()) as application:
        application.process_all_available()
        counts = application.store("counts")

        assert counts.get("k") == 3
        assert counts.at_least({"in": {0: 3}}).get("k") == 3


def test_what_was_read_before_the_start_is_known(home: Home) -> None:
    home.write("in", "x", "y")
    home.run(count())

    with home.application(count()) as application:
        assert application.store("counts").at_least({"in": {0: 2}}).get("k") == 2


def test_files_of_another_state_are_not_used(home: Home) -> None:
    from brookmere.run.launch.reset import execute, plan_reset

    home.write("in", "x", "y")
    with home.application(count()) as application:
        application.process_all_available()
        application.store("counts")
    files, others = (replica_directory(application.state_directory, name) for name in ("local", "standby"))
    others.mkdir()
    assert files.is_dir()

    execute(
        plan_reset(
            count(), application.config, application.state_directory, lambda topic: topic.end_offsets()
        ),
        application.config,
    )

    assert not files.exists()
    assert others.exists()
    with home.application(count()) as application:
        assert application.store("counts").get("k") is None


def test_stores_are_closed_with_the_application(home: Home) -> None:
    home.write("in", "x")
    with home.application(count()) as application:
        counts = application.store("counts")

    with pytest.raises(StoreNotReadyError, match="closed"):
        counts.get("k")
    with pytest.raises(StoreNotReadyError, match="is stopped"):
        application.store("counts")


def test_an_application_that_was_not_started_has_no_stores_yet(home: Home) -> None:
    application = home.application(count())

    with pytest.raises(StoreNotReadyError, match=r"is created, .* Start it"):
        application.store("counts")
    with pytest.raises(StoreNotReadyError, match="is created"):
        application.stores  # noqa: B018


def test_a_store_without_name_or_changelog_says_so(home: Home) -> None:
    home.write("in", "x")
    unnamed = next(s.name for s in every_kind_but_tables().build().stores if not s.queryable)
    with home.application(every_kind_but_tables(), changelog__disabled="last") as application:
        with pytest.raises(UnknownStoreError, match=r"changelog\.disabled"):
            application.store("last")
        with pytest.raises(UnknownStoreError, match="Give its table store="):
            application.store(unnamed)
