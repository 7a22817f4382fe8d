"""Python stages beside the kernel's: order, chunks, stores, failures, and tables on both sides."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver

SECOND = timedelta(seconds=1)


def _app(name: str) -> bm.StreamsBuilder:
    return bm.StreamsBuilder(name, key=bm.Text(), value=bm.Text())


def _read(driver: TopologyTestDriver, topic: str = "out") -> list[tuple[Any, Any]]:
    return driver.output_topic(topic).read_key_values_to_list()


def _feed(driver: TopologyTestDriver, *records: tuple[str, str, str | None, int]) -> None:
    driver.pipe_records([(topic, bm.Record(key, value, ts)) for topic, key, value, ts in records])


# ---- rows ----


def test_rows_of_many_chunks_leave_in_their_order(spark: SparkSession) -> None:
    app = _app("chunks")
    stream = app.stream("in")
    stream.map_values(bm.python(lambda value: f"{value}!", returns=str)).to("out")
    stream.filter(lambda value: F.length(value) == 1).to("short")
    with TopologyTestDriver(app, session=spark) as driver:
        driver.pipe_records([("in", bm.Record(f"k{i % 7}", str(i), i)) for i in range(9_000)])

        assert _read(driver) == [(f"k{i % 7}", f"{i}!") for i in range(9_000)]
        assert _read(driver, "short") == [(f"k{i}", str(i)) for i in range(7)] + [
            ("k0", "7"),
            ("k1", "8"),
            ("k2", "9"),
        ]


def test_one_record_may_give_many(spark: SparkSession) -> None:
    app = _app("many")
    words = app.stream("in").flat_map_values(bm.python(lambda value: value.split(), returns=str))
    words.map_values(lambda v: F.upper(v)).to("out")
    with TopologyTestDriver(app, session=spark) as driver:
        _feed(driver, ("in", "a", "x y z", 1), ("in", "b", "", 2), ("in", "c", "u", 3))

        assert _read(driver) == [("a", "X"), ("a", "Y"), ("a", "Z"), ("c", "U")]


def test_headers_times_and_keys_stay_unless_they_are_changed(spark: SparkSession) -> None:
    class Change(bm.Processor):
        def process(self, record: bm.Record) -> None:
            self.context.forward(record)
            self.context.forward(record.with_header("more", b"1"))
            self.context.forward(record.with_key("z").with_timestamp(9).with_headers(()))

    app = _app("headers")
    app.stream("in").process(Change).to("out")
    with TopologyTestDriver(app, session=spark) as driver:
        driver.pipe_records([("in", bm.Record("a", "x", 5, headers=(("h", b"0"),)))])

        out = driver.output_topic("out").read_records_to_list()
        assert [(r.key, r.timestamp, r.headers) for r in out] == [
            ("a", 5, (("h", b"0"),)),
            ("a", 5, (("h", b"0"), ("more", b"1"))),
            ("z", 9, ()),
        ]


def test_structs_arrays_and_numbers_cross_in_both_directions(spark: SparkSession) -> None:
    app = bm.StreamsBuilder(
        "shapes", key=bm.Text(), value=bm.Json("id int, tags array<string>, at timestamp, m decimal(10,2)")
    )

    def turned(value: dict[str, Any]) -> dict[str, Any]:
        return {"tags": value["tags"][::-1], "id": value["id"] + 1, "m": value["m"] * 2, "at": value["at"]}

    returns = "id bigint, at timestamp, tags array<string>, m decimal(12,3), left string"
    stream = app.stream("in").map_values(bm.python(turned, returns=returns))
    stream.map_values(lambda v: F.concat_ws("|", v.id, v.at.cast("string"), F.size(v.tags), v.m, v.left)).to(
        "out", value=bm.Text()
    )
    with TopologyTestDriver(app, session=spark) as driver:
        driver.input_topic("in").pipe_input(
            "a", {"id": 7, "tags": ["x", None], "at": "2024-02-29T12:00:00Z", "m": 1.25}
        )

        [(key, value)] = _read(driver)
        assert key == "a"
        assert value.split("|")[0] == "8"
        assert value.split("|")[2:] == ["2", "2.500"]


# ---- failures ----


def test_value_that_does_not_fit_fails_its_record_only(spark: SparkSession) -> None:
    app = _app("misfit")
    wrong = bm.python(lambda value: 2**31 if value == "bad" else 1, returns="int")
    app.stream("in").map_values(wrong, name="numbers").to("out", value=bm.Int())
    with TopologyTestDriver(app, session=spark, on_error="continue") as driver:
        _feed(driver, ("in", "a", "x", 1), ("in", "b", "bad", 2), ("in", "c", "y", 3))

        assert _read(driver) == [("a", 1), ("c", 1)]
        [error] = driver.errors
        assert error.node == "numbers"
        assert error.offset == 1
        assert "2147483648" in error.message


def test_counts_of_python_nodes_are_counted(spark: SparkSession) -> None:
    app = _app("counts")
    stream = app.stream("in").filter(bm.python(lambda value: 1 / len(value) < 1), name="long")
    stream.map_values(bm.python(lambda value: value * 2, returns=str), name="twice").to("out")
    with TopologyTestDriver(app, session=spark, on_error="continue") as driver:
        _feed(driver, ("in", "a", "x", 1), ("in", "a", "xy", 2), ("in", "a", "", 3))

        counters = driver.counters
        assert {k: counters["long"][k] for k in ("received", "forwarded", "failed")} == {
            "received": 3,
            "forwarded": 1,
            "failed": 1,
        }
        assert counters["twice"]["received"] == 1


# ---- stores ----


@pytest.mark.parametrize("store_type", ["memory", "rocksdb"])
def test_store_is_read_in_the_order_of_its_serialised_keys(spark: SparkSession, store_type: Any) -> None:
    class Look(bm.Processor):
        stores = (bm.key_value_store("rows", key="bigint", value=str, store_type=store_type),)

        def process(self, record: bm.Record) -> None:
            rows = self.context.store("rows")
            if record.key == "scan":
                found = [
                    [key for key, _ in rows.all()],
                    [key for key, _ in rows.reverse_all()],
                    [key for key, _ in rows.range(1, 300)],
                    rows.approximate_num_entries(),
                ]
                self.context.forward(record.with_value(str(found)))
            else:
                rows.put(int(record.key), record.value)

    app = _app("scan")
    app.stream("in").process(Look).to("out")
    with TopologyTestDriver(app, session=spark) as driver:
        keys = ["1", "-1", "300", "2"]
        _feed(driver, *[("in", key, "x", 1) for key in keys], ("in", "2", None, 2), ("in", "scan", "", 3))
        driver.restart()
        _feed(driver, ("in", "5", "x", 4), ("in", "scan", "", 5))

        assert [value for _, value in _read(driver)] == [
            str([[1, 300, -1], [-1, 300, 1], [1, 300], 3]),
            str([[1, 5, 300, -1], [-1, 300, 5, 1], [1, 5, 300], 4]),
        ]


def test_texts_are_found_by_what_they_begin_with(spark: SparkSession) -> None:
    class Look(bm.Processor):
        stores = (bm.key_value_store("rows", key=str, value=str),)

        def process(self, record: bm.Record) -> None:
            rows = self.context.store("rows")
            rows.put(record.key, record.value)
            self.context.forward(record.with_value(",".join(key for key, _ in rows.prefix_scan("ab"))))

    app = _app("prefix")
    app.stream("in").process(Look).to("out")
    with TopologyTestDriver(app, session=spark) as driver:
        _feed(driver, *[("in", key, "x", 1) for key in ("abc", "b", "ab", "a", "aba")])

        assert _read(driver)[-1][1] == "ab,aba,abc"


class Windows(bm.Processor):
    stores = (
        bm.window_store(
            "windows",
            key=str,
            value="bigint",
            window="10s",
            retention="60s",
        ),
        bm.session_store("sessions", key=str, value=str, retention="60s"),
        bm.versioned_store("versions", key=str, value=str, history="60s"),
    )

    def process(self, record: bm.Record) -> None:
        windows, sessions, versions = (
            self.context.store(name) for name in ("windows", "sessions", "versions")
        )
        start = record.timestamp // 10_000 * 10_000
        windows.put(record.key, (windows.fetch(record.key, start) or 0) + 1, start)
        sessions.put(bm.WindowedKey(record.key, start, record.timestamp), record.value)
        versions.put(record.key, record.value, record.timestamp)
        found = (
            [(start, count) for start, count in windows.fetch(record.key, 0, 1_000_000)],
            len(list(sessions.fetch(record.key))),
            versions.get(record.key).value,
            versions.get(record.key, 5_000).value if versions.get(record.key, 5_000) else None,
        )
        self.context.forward(record.with_value(str(found)))


@pytest.mark.parametrize("restart", [False, True])
def test_windows_sessions_and_versions_are_kept(spark: SparkSession, restart: bool) -> None:
    app = _app("windows")
    app.stream("in").process(Windows).to("out")
    with TopologyTestDriver(app, session=spark) as driver:
        _feed(driver, ("in", "a", "x", 1_000), ("in", "a", "y", 12_000))
        if restart:
            driver.restart()
        _feed(driver, ("in", "a", "z", 13_000), ("in", "a", "u", 80_000))

        assert [value for _, value in _read(driver)] == [
            str(([(0, 1)], 1, "x", "x")),
            str(([(0, 1), (10_000, 1)], 2, "y", "x")),
            str(([(0, 1), (10_000, 2)], 3, "z", "x")),
            str(([(80_000, 1)], 1, "u", None)),
        ]


@pytest.mark.parametrize("store_type", ["memory", "rocksdb"])
def test_all_windows_are_found_segment_by_segment_then_by_key(spark: SparkSession, store_type: Any) -> None:
    class All(bm.Processor):
        stores = (
            bm.window_store(
                "all",
                key=str,
                value=str,
                window=SECOND,
                retention="120s",
                store_type=store_type,
            ),
        )

        def process(self, record: bm.Record) -> None:
            rows = self.context.store("all")
            if record.value == "scan":
                found = [f"{key.key}{key.start // 1000}={value}" for key, value in rows.all()]
                self.context.forward(record.with_value(" ".join(found)))
            else:
                rows.put(record.key, record.value, record.timestamp)

    app = _app("all")
    app.stream("in").process(All).to("out")
    with TopologyTestDriver(app, session=spark) as driver:
        _feed(driver, ("in", "b", "1", 1_000), ("in", "a", "2", 2_000), ("in", "a", "3", 61_000))
        _feed(driver, ("in", "b", "4", 2_000), ("in", "a", None, 2_000), ("in", "a", "5", 3_000))
        _feed(driver, ("in", "a", "scan", 4_000))
        driver.restart()
        _feed(driver, ("in", "a", "6", 122_000), ("in", "a", "scan", 4_000))

        assert [value for _, value in _read(driver)] == ["a3=5 b1=1 b2=4 a61=3", "a3=5 a61=3 a122=6"]


# ---- tables on both sides ----


def test_python_table_is_joined_grouped_and_suppressed_by_the_kernel(spark: SparkSession) -> None:
    app = _app("tables")
    table = app.table("rows").map_values(bm.python(lambda value: value.upper(), returns=str))
    shown = table.map_values(lambda v: F.concat(v, F.lit("?")))
    orders = app.stream("orders")
    orders.join(table, lambda left, right: F.concat(left, F.lit(":"), right)).to("joined")
    orders.left_join(shown, lambda left, right: F.concat(left, F.lit(":"), F.coalesce(right, F.lit("-")))).to(
        "shown"
    )
    table.group_by(lambda key, value: (value, key)).count().to_stream().to("counted", value=bm.Long())
    with TopologyTestDriver(app, session=spark) as driver:
        _feed(
            driver,
            ("rows", "a", "x", 1),
            ("orders", "a", "1", 2),
            ("rows", "a", "y", 3),
            ("orders", "a", "2", 4),
        )
        _feed(driver, ("rows", "a", None, 5), ("orders", "a", "3", 6), ("rows", "b", "y", 7))

        assert _read(driver, "joined") == [("a", "1:X"), ("a", "2:Y")]
        assert _read(driver, "shown") == [("a", "1:X?"), ("a", "2:Y?"), ("a", "3:-")]
        assert _read(driver, "counted") == [("X", 1), ("X", 0), ("Y", 1), ("Y", 0), ("Y", 1)]


def test_python_aggregate_behind_a_repartition_feeds_kernel_nodes(spark: SparkSession) -> None:
    app = _app("aggregate")
    grouped = app.stream("in").group_by(bm.python(lambda value: value[0], returns=str))
    longest = bm.python(lambda value, aggregate: max(value, aggregate, key=len), returns=str)
    table = grouped.aggregate("", longest, store="longest")
    table.to_stream().map_values(lambda v: F.length(v).cast("bigint")).to("out", value=bm.Long())
    with TopologyTestDriver(app, session=spark, partitions=3) as driver:
        _feed(
            driver,
            ("in", "1", "apple", 1),
            ("in", "2", "ad", 2),
            ("in", "3", "bee", 3),
            ("in", "4", "avocado", 4),
        )

        assert _read(driver) == [("a", 5), ("a", 5), ("b", 3), ("a", 7)]
        assert dict(driver.store("longest").all()) == {"a": "avocado", "b": "bee"}


def test_processor_reads_a_table_as_it_stands_at_each_record(spark: SparkSession) -> None:
    class Price(bm.Processor):
        def process(self, record: bm.Record) -> None:
            price = self.context.store("prices").get(record.key)
            self.context.forward(record.with_value(f"{record.value}:{price}"))

    app = _app("reading")
    app.table("prices", store="prices")
    app.stream("in").process(Price, stores=["prices"]).to("out")
    with TopologyTestDriver(app, session=spark) as driver:
        _feed(
            driver, ("in", "a", "1", 1), ("prices", "a", "5", 2), ("in", "a", "2", 3), ("prices", "a", "6", 4)
        )
        driver.restart()
        _feed(driver, ("in", "a", "3", 5), ("prices", "a", None, 6), ("in", "a", "4", 7))

        assert [value for _, value in _read(driver)] == ["1:None", "2:5", "3:6", "4:None"]


def test_processor_reads_a_global_table_and_a_table_of_windows(spark: SparkSession) -> None:
    class Look(bm.Processor):
        def process(self, record: bm.Record) -> None:
            name = self.context.store("names").get("n")
            counts = list(self.context.store("counts").fetch(record.key, 0, 100_000))
            self.context.forward(record.with_value(f"{name}:{counts}"))

    app = _app("looking")
    app.global_table("names", store="names")
    stream = app.stream("in")
    stream.group_by_key().windowed_by(bm.TimeWindows("10s", grace="60s")).count(store="counts")
    stream.process(Look, stores=["names", "counts"]).to("out")
    with TopologyTestDriver(app, session=spark, partitions=2) as driver:
        _feed(
            driver,
            ("names", "n", "one", 1),
            ("in", "a", "x", 2),
            ("in", "b", "x", 11_000),
            ("in", "a", "x", 12_000),
        )

        assert sorted(_read(driver)) == [
            ("a", "one:[(0, 1), (10000, 1)]"),
            ("a", "one:[(0, 1)]"),
            ("b", "one:[(10000, 1)]"),
        ]


def test_windows_of_python_are_suppressed_until_they_close_and_tell_what_is_late(spark: SparkSession) -> None:
    app = _app("closing")
    grouped = app.stream("in").group_by_key()
    windows = grouped.windowed_by(bm.TimeWindows("10s", grace=timedelta(0)), late_to="late")
    joined = bm.python(lambda value, aggregate: aggregate + value, returns=str)
    table = windows.aggregate("", joined).suppress(bm.until_window_closes())
    table.to_stream().select_key(lambda key, value: key.key).to("out")
    with TopologyTestDriver(app, session=spark) as driver:
        _feed(driver, ("in", "a", "x", 1_000), ("in", "a", "y", 2_000), ("in", "a", "z", 12_000))
        driver.restart()
        _feed(driver, ("in", "a", "u", 3_000), ("in", "b", "v", 25_000))

        assert _read(driver) == [("a", "xy"), ("a", "z")]
        [late] = driver.output_topic("late", value=bm.Text()).read_records_to_list()
        assert (late.key, late.value, late.timestamp) == ("a", "u", 3_000)
        assert dict(late.headers)["brookmere.dropped.reason"] == b"late"


def test_wall_clock_and_stream_time_call_a_processor(spark: SparkSession) -> None:
    class Sweep(bm.Processor):
        def init(self, context: bm.ProcessorContext) -> None:
            super().init(context)
            context.schedule(10 * SECOND, "stream_time", lambda now: self.tell("stream", now))
            context.schedule(timedelta(seconds=60), "wall_clock", lambda now: self.tell("wall", now))

        def tell(self, kind: str, now: int) -> None:
            self.context.forward(bm.Record(kind, str(now), now))

        def process(self, record: bm.Record) -> None:
            self.context.forward(record)

    app = _app("sweeping")
    app.stream("in").filter(lambda value: value != "-").process(Sweep).to("out")
    with TopologyTestDriver(app, session=spark, start_time=0) as driver:
        _feed(driver, ("in", "a", "x", 1_000), ("in", "a", "-", 12_000), ("in", "a", "y", 13_000))
        driver.restart()
        driver.advance_wall_clock(timedelta(seconds=61))
        _feed(driver, ("in", "a", "z", 20_000))

        assert _read(driver) == [
            ("a", "x"),
            ("stream", "1000"),
            ("stream", "12000"),
            ("a", "y"),
            ("wall", "61000"),
            ("a", "z"),
            ("stream", "20000"),
        ]
