"""Time in an application: where records get it from, and a wall clock that a repeated batch sees again."""

from __future__ import annotations

import json
import time
from datetime import timedelta

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from tests.run.homes import Home, until

pytestmark = pytest.mark.usefixtures("spark")


def _copy(**source: object) -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("copy", key=bm.Text(), value=bm.Text())
    app.stream("in", **source).to("out")  # type: ignore[arg-type]
    return app


def _times(home: Home) -> list[int]:
    return [record.timestamp for record in home.topics["out"].read(0)]


def test_wall_clock_is_the_time_of_the_batch_in_its_offsets(home: Home) -> None:
    home.write("in", "a", "b")
    before = int(time.time() * 1000)

    application = home.run(_copy(timestamp=bm.wall_clock))

    after = int(time.time() * 1000)
    offsets = (application.state_directory / "checkpoint" / "offsets" / "0").read_text()
    told = json.loads(offsets.splitlines()[-1])["$clock"]["wall"]
    assert _times(home) == [told, told]
    assert before <= told <= after


def test_wall_clock_alone_starts_no_batches(home: Home) -> None:
    home.write("in", "a")

    application = home.run(_copy(timestamp=bm.wall_clock), wall__clock__interval__ms=1)

    progress = application.progress()
    assert progress is not None
    assert (progress.batch, progress.records, progress.total_records) == (0, 1, 1)


def test_the_setting_gives_all_sources_without_timestamp_the_wall_clock(home: Home) -> None:
    home.write("in", "a")
    extractor = "org.apache.kafka.streams.processor.WallclockTimestampExtractor"

    home.run(_copy(), default__timestamp__extractor=extractor)
    home.write("in", "b")
    home.run(_copy(timestamp=bm.record_time), default__timestamp__extractor=extractor)

    first, second = _times(home)
    assert first > 1_000_000_000_000
    assert second == 0


def test_the_setting_says_what_an_invalid_time_means(home: Home) -> None:
    home.write("in", "7", "no number", "9")

    home.run(
        _copy(timestamp=lambda value: value), default__timestamp__extractor="LogAndSkipOnInvalidTimestamp"
    )

    assert _times(home) == [7, 9]


def test_an_invalid_time_stops_the_application_with_the_place_of_the_record(home: Home) -> None:
    home.write("in", "7", "no number")

    with pytest.raises(bm.errors.TimestampError, match="topic in, partition 0, offset 1") as caught:
        home.run(_copy(timestamp=lambda value: value))

    assert caught.value.value == b"no number"


SECOND = timedelta(seconds=1)


def _last_window() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("windows", key=bm.Text(), value=bm.Text())
    windows = (
        app.stream("in")
        .group_by_key()
        .windowed_by(bm.TimeWindows(SECOND), emit="close", close_idle_after=timedelta(milliseconds=200))
    )
    counts = windows.count(name="count")
    counts.to_stream(lambda key, value: key.key).to("out", key=bm.Text(), value=bm.Long())
    return app


def _found(home: Home) -> list[tuple[bytes | None, bytes | None, int]]:
    records = home.topics["out"].read(0) if "out" in home.topics else []
    return [(record.key, record.value, record.timestamp) for record in records]


def test_the_last_window_comes_out_by_itself_and_again_when_its_batch_is_repeated(home: Home) -> None:
    home.write("in", "x", "y")
    batches: list[int] = []

    def watch(progress: bm.Progress) -> None:
        if progress.nodes["count"]["forwarded"]:
            batches.append(progress.batch)

    application = home.application(_last_window(), wall__clock__interval__ms=100)
    application.on_progress(watch)
    with application:
        until(lambda: bool(batches))
    written = _found(home)
    progress = application.progress()
    assert written == [(b"k", bm.Long().serialize(2), 1)]
    assert progress is not None
    assert progress.total_records == 2

    # As if the application had been killed before the batch was committed, and its results were gone.
    checkpoint = application.state_directory / "checkpoint"
    for log, first in (("offsets", batches[0] + 1), ("commits", batches[0])):
        for entry in (checkpoint / log).iterdir():
            number = entry.name.strip(".").removesuffix(".crc")
            if number.isdigit() and int(number) >= first:
                entry.unlink()
    home.topics.delete("out")
    home.run(_last_window(), wall__clock__interval__ms=3_600_000)

    assert _found(home) == written


def test_no_task_is_idle_while_records_wait(home: Home) -> None:
    times = {"slow": (0, 500), "fast": (1, 2, 3, 4, 5)}
    topic = home.topics.create("in", partitions=2)
    for partition, (key, stamps) in enumerate(times.items()):
        records = [bm.Record(key.encode(), b"x", stamp, partition=partition) for stamp in stamps]
        topic.append(records)
    app = bm.StreamsBuilder("busy", key=bm.Text(), value=bm.Text())
    idle = timedelta(milliseconds=1)
    windows = (
        app.stream("in")
        .group_by_key()
        .windowed_by(
            bm.TimeWindows("10s"),
            emit="close",
            close_idle_after=idle,
            late_to="late",
        )
    )
    windows.count().to_stream(lambda key, value: key.key).to("out", key=bm.Text(), value=bm.Long())

    with home.application(app, max__batch__records=1, wall__clock__interval__ms=10):
        until(lambda: "out" in home.topics and sum(home.topics["out"].end_offsets()) == 2)

    found = [record for partition in range(2) for record in home.topics["out"].read(partition)]
    counts = {record.key: bm.Long().deserialize(record.value) for record in found}
    assert counts == {b"slow": 2, b"fast": 5}


def test_a_failure_that_the_clock_alone_has_caused_is_a_dead_letter(home: Home) -> None:
    home.write("in", "x")
    app = bm.StreamsBuilder("clock", key=bm.Text(), value=bm.Text())
    windows = (
        app.stream("in")
        .group_by_key()
        .windowed_by(bm.TimeWindows(SECOND), emit="close", close_idle_after=timedelta(milliseconds=200))
    )
    results = windows.count().to_stream(lambda key, value: key.key)
    results.map_values(lambda value: F.raise_error(F.lit("no")).cast("string")).to(
        "out", key=bm.Text(), value=bm.Text()
    )
    settings = {
        "processing__exception__handler": "continue",
        "errors__dead__letter__queue__topic__name": "letters",
        "wall__clock__interval__ms": 100,
    }

    with home.application(app, **settings):
        until(lambda: "letters" in home.topics and sum(home.topics["letters"].end_offsets()) == 1)

    (letter,) = home.topics["letters"].read(0)
    assert dict(letter.headers)["__streams.errors.topic"] == b"(wall clock)"
