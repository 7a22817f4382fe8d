"""The manifest on disk follows the documented format, because other programs read it."""

from __future__ import annotations

import pytest

from brookmere.topics.log.manifest import Manifest, PartitionLog, Segment, Trash, WriterPosition

SEGMENT = Segment("0-a.arrow", 0, 120, 119, 4711, 123456789, 5, 9, 1000)
MANIFEST = Manifest(
    "abc",
    (PartitionLog(0, 120, (SEGMENT,)),),
    17,
    {"app": WriterPosition("q", 7)},
    (Trash("0-b.arrow", 99),),
)
TEXT = (
    '{"format":1,"id":"abc","version":17,'
    '"partitions":[{"start":0,"end":120,"segments":[{"file":"0-a.arrow","base":0,"end":120,"rows":119,'
    '"bytes":4711,"crc":123456789,"min":5,"max":9,"at":1000}]}],'
    '"writers":{"app":{"query":"q","batch":7}},"trash":[{"file":"0-b.arrow","at":99}]}'
)


def test_a_manifest_is_written_to_the_letter() -> None:
    assert MANIFEST.to_json() == TEXT


def test_a_manifest_is_read_back() -> None:
    assert Manifest.from_json(TEXT) == MANIFEST


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        TEXT[:100],
        TEXT.replace('"format":1', '"format":2'),
        TEXT.replace('"rows":119,', ""),
        TEXT.replace('"base":0', '"base":500'),
        TEXT.replace('"writers":{"app":{"query":"q","batch":7}}', '"writers":3'),
    ],
)
def test_what_is_no_manifest_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        Manifest.from_json(text)


def test_a_segment_is_appended_at_the_end_of_its_partition() -> None:
    log = PartitionLog(0, 120, (SEGMENT,))

    longer = log.appended(Segment("0-c.arrow", 0, 3, 3, 1, 1, 1, 1, 1))

    assert longer.end == 123
    assert (longer.segments[-1].base, longer.segments[-1].end) == (120, 123)
