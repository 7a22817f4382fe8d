"""Damage is reported with the file, the offsets and a remedy; repair removes it and keeps the rest."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from brookmere.errors import DamagedTopicError
from brookmere.record import Record
from brookmere.topics import Topic, Topics
from brookmere.topics.log import segment


@pytest.fixture(autouse=True)
def _nothing_is_checked_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    # A process looks at the checksum of a file once; a test is to be a process that has not.
    monkeypatch.setattr(segment, "_checked", {})


@pytest.fixture
def topic(topics: Topics) -> Topic:
    """A topic of three segments in partition 1, with offsets 0-1, 2-3 and 4-5."""
    topic = topics.create("t", 2)
    for number in range(3):
        topic.append([Record(b"k", b"%d" % number, 1, partition=1)] * 2)
    return topic


def second_segment(topic: Topic) -> Path:
    manifest = json.loads((topic.directory / "manifest.json").read_text())
    return topic.directory / "segments" / manifest["partitions"][1]["segments"][1]["file"]


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


DAMAGES = [
    pytest.param(flip, "its checksum is", id="flipped"),
    pytest.param(cut, "bytes instead of", id="cut"),
    pytest.param(Path.unlink, "it is missing", id="missing"),
]


@pytest.mark.parametrize(("harm", "words"), DAMAGES)
def test_a_damaged_segment_is_reported_with_its_name_and_offsets(
    topic: Topic, harm: Callable[[Path], None], words: str
) -> None:
    path = second_segment(topic)
    harm(path)

    reader = topic.read(1)
    before = [next(reader).offset for _ in range(2)]
    with pytest.raises(DamagedTopicError) as caught:
        next(reader)

    error = caught.value
    assert before == [0, 1]
    assert (error.topic, error.file, error.partition, error.start, error.end) == ("t", str(path), 1, 2, 4)
    assert words in str(error)
    assert "offsets 2 to 3 of partition 1" in str(error)
    assert "`brookmere topics repair t`" in str(error)
    assert [record.offset for record in topic.read(1, 4)] == [4, 5]
    with pytest.raises(DamagedTopicError):
        topic.record(1, 3)


@pytest.mark.parametrize(("harm", "words"), DAMAGES)
def test_repair_removes_a_damaged_segment_and_keeps_the_file(
    topic: Topic, harm: Callable[[Path], None], words: str
) -> None:
    path = second_segment(topic)
    harm(path)

    plan = topic.repair()
    with pytest.raises(DamagedTopicError):
        list(topic.read(1))
    done = topic.repair(execute=True)

    (damage,) = plan.damages
    assert (damage.file, damage.partition, damage.offsets, damage.records) == (path, 1, range(2, 4), 2)
    assert words in damage.found
    assert (plan.executed, done.executed, done.lost_records) == (False, True, 2)
    assert "Nothing has been changed yet" in str(plan)
    assert "loses 2 records, offsets 2 to 3" in str(done)
    assert [record.offset for record in topic.read(1)] == [0, 1, 4, 5]
    assert list(topic.read(1, 2, 4)) == []
    assert topic.end_offsets() == [0, 6]
    assert (path.parent / "damaged" / path.name).exists() == (harm is not Path.unlink)
    assert not topic.repair()


def test_a_repaired_topic_goes_on(topic: Topic) -> None:
    flip(second_segment(topic))
    topic.repair(execute=True)

    topic.append([Record(b"k", b"new", 1, partition=1)])
    topic.maintain(full=True)

    assert [record.offset for record in topic.read(1)] == [0, 1, 4, 5, 6]
    assert len(list((topic.directory / "segments" / "damaged").iterdir())) == 1


def test_a_topic_that_loses_its_first_segment_starts_later(topic: Topic) -> None:
    manifest = json.loads((topic.directory / "manifest.json").read_text())
    flip(topic.directory / "segments" / manifest["partitions"][1]["segments"][0]["file"])

    topic.repair(execute=True)

    assert topic.start_offsets() == [0, 2]


def test_a_topic_that_is_not_damaged_is_left_alone(topic: Topic) -> None:
    before = (topic.directory / "manifest.json").read_bytes()

    done = topic.repair(execute=True)

    assert not done
    assert str(done) == "The topic 't' is not damaged."
    assert (topic.directory / "manifest.json").read_bytes() == before


@pytest.mark.parametrize("text", [None, "", '{"format":1,"id"', "[]", "\x00"])
def test_a_damaged_manifest_is_reported_and_the_previous_one_restored(
    topics: Topics, topic: Topic, text: str | None
) -> None:
    path = topic.directory / "manifest.json"
    path.unlink()
    if text is not None:
        path.write_text(text)
    opened = topics["t"]

    for use in (opened.describe, lambda: opened.read(1), lambda: opened.append([Record(b"k", b"v", 1)])):
        with pytest.raises(DamagedTopicError, match=r"manifest\.json .*`brookmere topics repair t`"):
            use()
    plan = opened.repair()
    done = opened.repair(execute=True)

    assert [damage.file for damage in plan.damages] == [path]
    assert len(plan.unnamed) == 1
    assert plan.unnamed[0].name in str(done)
    assert [record.offset for record in opened.read(1)] == [0, 1, 2, 3]
    kept = {each.name for each in (topic.directory / "segments" / "damaged").iterdir()}
    assert plan.unnamed[0].name in kept
    assert len(kept) == (1 if text is None else 2)
    opened.append([Record(b"k", b"v", 1, partition=1)])
    assert opened.end_offsets() == [0, 5]
    assert not opened.repair()


def test_without_any_manifest_repair_fails_with_a_remedy(topic: Topic) -> None:
    (topic.directory / "manifest.json").unlink()
    (topic.directory / "manifest.previous.json").write_text("{")

    with pytest.raises(DamagedTopicError, match=r"cannot be repaired: .* from a backup"):
        topic.repair(execute=True)


def test_maintenance_reports_damage(topic: Topic) -> None:
    flip(second_segment(topic))

    with pytest.raises(DamagedTopicError, match="offsets 2 to 3 of partition 1"):
        topic.maintain(full=True)

    assert topic.describe().records == 6
