"""The stores of a processor are queried like those of tables: each type, from its changelog."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pyspark.sql import SparkSession

import brookmere as bm
from tests.run.homes import Home


class Remembering(bm.Processor):
    stores = (
        bm.key_value_store("counts", key=bm.Text(), value="n int, last string"),
        bm.key_value_store("seen", key=str, value=bm.Pickled()),
        bm.key_value_store("silent", key=str, value=str, changelog=False),
        bm.window_store("windows", key=str, value=int, window="1000ms", retention="10000ms"),
        bm.session_store("sessions", key=bm.Text(), value=str, retention=timedelta(hours=1)),
        bm.versioned_store("versions", key=str, value=str, history=timedelta(hours=1)),
    )

    def process(self, record: bm.Record) -> None:
        counts, seen, silent, windows, sessions, versions = (
            self.context.store(store.name) for store in type(self).stores
        )
        key, value, time = record.key, record.value, record.timestamp
        counts.put(key, {"n": ((counts.get(key) or {}).get("n") or 0) + 1, "last": value})
        seen.put(key, {*(seen.get(key) or ()), value})
        silent.put(key, value)
        start = time // 1000 * 1000
        windows.put(key, (windows.fetch(key, start) or 0) + 1, start)
        sessions.put(bm.WindowedKey(key, time, time + 1), value)
        versions.put(key, value, time)


def test_stores_of_a_processor_are_queried_by_name(home: Home, spark: SparkSession) -> None:
    app = bm.StreamsBuilder("remember", key=bm.Text(), value=bm.Text())
    app.stream("in").process(Remembering)
    home.topics.create("in").append(
        [bm.Record(b"k", v, t) for v, t in ((b"a", 1000), (b"b", 1500), (b"c", 2500))]
    )

    with home.application(app) as application:
        application.process_all_available()

        assert list(application.store("counts").all()) == [("k", {"n": 3, "last": "c"})]
        assert application.store("seen").get("k") == {"a", "b", "c"}
        assert list(application.store("windows").all()) == [
            (bm.WindowedKey("k", 1000, 2000), 2),
            (bm.WindowedKey("k", 2000, 3000), 1),
        ]
        assert list(application.store("sessions").fetch("k")) == [
            (bm.WindowedKey("k", time, time + 1), value)
            for time, value in ((1000, "a"), (1500, "b"), (2500, "c"))
        ]
        assert application.store("versions").get("k", as_of=1800) == "b"
        with pytest.raises(bm.errors.UnknownStoreError, match="changelog=False"):
            application.store("silent")
