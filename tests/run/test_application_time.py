"""Time in an application: where records get it from, and a wall clock that a repeated batch sees again."""

from __future__ import annotations

import json
import time

import pytest

import brookmere as bm
from tests.run.homes import Home

pytestmark = pytest.mark.usefixtures("spark")


def _copy(**source: object) -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("copy", key=bm.Text(), value=bm.Text())
    app.stream("in", **source).to("out")  # type: ignore[arg-type]
    return app


def _times(home: Home) -> list[int]:
    return [record.timestamp for record in home.topics["out"].read(0)]


def test_wall_clock_is_the_time_of_the_batch_as_its_offsets_tell_it(home: Home) -> None:
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

    with pytest.raises(bm.TimestampError, match="topic in, partition 0, offset 1") as caught:
        home.run(_copy(timestamp=lambda value: value))

    assert caught.value.value == b"no number"
