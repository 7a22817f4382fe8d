"""Topics are created, found and deleted, whole or not at all."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from brookmere.errors import DamagedTopicError, TopicError, TopicExistsError, UnknownTopicError
from brookmere.record import Record
from brookmere.topics import Topics, home
from tests.topics.conftest import Start

RECORD = Record(b"k", b"v", 1)


def test_the_home_is_a_hidden_folder_where_one_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROOKMERE_HOME", raising=False)
    monkeypatch.chdir(tmp_path)

    assert home() == tmp_path / ".brookmere"
    assert Topics().directory == tmp_path / ".brookmere" / "topics"


def test_the_environment_names_another_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROOKMERE_HOME", str(tmp_path / "else"))

    assert Topics().directory == tmp_path / "else" / "topics"


def test_a_directory_that_is_not_there_has_no_topics(topics: Topics) -> None:
    assert topics.names() == []
    assert "orders" not in topics


def test_a_created_topic_is_found_by_its_name(topics: Topics) -> None:
    created = topics.create("orders", 3, {"retention.ms": 1000})

    found = Topics(topics.directory)["orders"]

    assert topics.names() == ["orders"]
    assert (found.name, found.partitions, found.id) == ("orders", 3, created.id)
    assert found.config.retention_ms == 1000
    assert found.directory == topics.directory / "orders"


def test_the_files_of_a_topic_are_those_of_the_format(topics: Topics) -> None:
    topic = topics.create("orders", 2)

    content = json.loads((topic.directory / "topic.json").read_text())
    manifest = json.loads((topic.directory / "manifest.json").read_text())

    assert sorted(path.name for path in topic.directory.iterdir()) == [
        "lock",
        "manifest.json",
        "segments",
        "topic.json",
    ]
    assert (content["format"], content["name"], content["partitions"]) == (1, "orders", 2)
    assert re.fullmatch("[0-9a-f]{32}", content["id"])
    assert content["config"]["cleanup.policy"] == "delete"
    assert manifest == {
        "format": 1,
        "id": content["id"],
        "version": 0,
        "partitions": [{"start": 0, "end": 0, "segments": []}] * 2,
        "writers": {},
        "trash": [],
    }


def test_a_topic_is_created_once(topics: Topics) -> None:
    topics.create("orders").append([RECORD])

    with pytest.raises(TopicExistsError, match="'orders' already exists"):
        topics.create("orders")
    again = topics.create("orders", 9, exist_ok=True)

    assert again.partitions == 1
    assert again.end_offsets() == [1]


def test_a_folder_that_is_no_topic_is_left_alone(topics: Topics) -> None:
    (topics.directory / "orders").mkdir(parents=True)
    (topics.directory / "orders" / "mine.txt").write_text("mine")

    with pytest.raises(TopicExistsError, match="exists and is not a topic"):
        topics.create("orders", exist_ok=True)

    assert (topics.directory / "orders" / "mine.txt").read_text() == "mine"
    assert topics.names() == []
    assert [path.name for path in topics.directory.iterdir()] == ["orders"]


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a b", "ä", "x" * 250, "~a", "a\n"])
def test_a_name_that_kafka_refuses_is_refused(topics: Topics, name: str) -> None:
    with pytest.raises(TopicError, match="is not a valid topic name"):
        topics.create(name)


@pytest.mark.parametrize("name", ["a", "A.b_c-1", "x" * 249, "...", ".hidden"])
def test_a_name_that_kafka_takes_is_taken(topics: Topics, name: str) -> None:
    topics.create(name)

    assert topics.names() == [name]


@pytest.mark.parametrize("partitions", [0, -1, True, 1.5])
def test_a_topic_has_at_least_one_partition(topics: Topics, partitions: int) -> None:
    with pytest.raises(TopicError, match="at least 1"):
        topics.create("orders", partitions)


def test_an_unknown_topic_is_named_with_the_nearest_and_the_command(topics: Topics) -> None:
    topics.create("orders")

    with pytest.raises(UnknownTopicError) as caught:
        topics["order"]

    assert "There is no topic 'order'" in str(caught.value)
    assert "Did you mean 'orders'?" in str(caught.value)
    assert "brookmere topics create order" in str(caught.value)


def test_using_a_deleted_topic_is_an_error(topics: Topics) -> None:
    topic = topics.create("orders")
    topic.append([RECORD])

    topics.delete("orders")

    assert list(topics.directory.iterdir()) == []
    for use in (lambda: topic.append([RECORD]), lambda: topic.read(0), topic.describe, topic.maintain):
        with pytest.raises(UnknownTopicError, match="was deleted while it was in use"):
            use()
    with pytest.raises(UnknownTopicError):
        topics.delete("orders")


def test_a_topic_deleted_while_it_is_read_is_an_error(topics: Topics) -> None:
    topic = topics.create("orders")
    topic.append([RECORD])
    topic.append([RECORD])
    reader = topic.read(0)
    next(reader)

    topics.delete("orders")

    with pytest.raises(UnknownTopicError, match="was deleted while it was in use"):
        list(reader)


def test_a_recreated_topic_is_not_mistaken_for_the_old_one(topics: Topics) -> None:
    old = topics.create("orders")
    topics.delete("orders")
    new = topics.create("orders")

    with pytest.raises(UnknownTopicError, match="was deleted and recreated"):
        old.append([RECORD])

    assert new.end_offsets() == [0]
    assert list((new.directory / "segments").iterdir()) == []


def test_a_topic_with_a_damaged_description_is_reported_and_can_be_deleted(topics: Topics) -> None:
    topic = topics.create("orders")
    (topic.directory / "topic.json").write_text('{"format":1')

    with pytest.raises(DamagedTopicError, match=r"topic\.json is not a valid description of a topic"):
        topics["orders"]
    topics.delete("orders")

    assert topics.names() == []


def test_of_processes_that_create_the_same_topic_one_wins(topics: Topics, start: Start) -> None:
    program = """
        import sys
        import brookmere as bm
        topics = bm.Topics(sys.argv[1])
        print("ready", flush=True)
        for name in sys.stdin:
            try:
                print("made", topics.create(name.strip(), 3).id, flush=True)
            except bm.errors.TopicExistsError:
                print("there", topics.create(name.strip(), 5, exist_ok=True).id, flush=True)
    """
    racers = [start(program, topics.directory) for _ in range(3)]
    for racer in racers:
        assert racer.stdout
        assert racer.stdout.readline() == "ready\n"

    for number in range(10):
        for racer in racers:
            assert racer.stdin
            racer.stdin.write(f"t{number}\n")
            racer.stdin.flush()
        answers = [racer.stdout.readline().split() for racer in racers if racer.stdout]

        assert sorted(word for word, _ in answers) == ["made", "there", "there"]
        assert {identity for _, identity in answers} == {topics[f"t{number}"].id}
        assert topics[f"t{number}"].partitions == 3
    assert len(topics.names()) == 10
