"""`produce` writes lines as records, quickly, and names the line that is not a record."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

import brookmere as bm
from brookmere.serde import partition_for
from tests.cli.conftest import Run


@pytest.fixture
def topic(folder: Path) -> bm.Topic:
    return bm.Topics(folder / ".brookmere" / "topics").create("in")


def content(topic: bm.Topic) -> list[tuple[bytes | None, bytes | None]]:
    return [(record.key, record.value) for number in range(topic.partitions) for record in topic.read(number)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("a\nb\n", [b"a", b"b"]),
        ("a\nb", [b"a", b"b"]),
        ("a\r\nb\r\n", [b"a", b"b"]),
        ("\n\nx\n", [b"", b"", b"x"]),
        ("", []),
        ("für\n", ["für".encode()]),
    ],
)
def test_lines_become_values(run: Run, topic: bm.Topic, text: str, values: list[bytes]) -> None:
    shown = run("produce", "in", stdin=text.encode())

    assert shown.exit_code == 0
    assert content(topic) == [(None, value) for value in values]
    assert shown.stderr.startswith(f"{len(values)} record{'' if len(values) == 1 else 's'} to in in ")
    assert shown.stdout == ""


def test_file_is_read(run: Run, topic: bm.Topic, folder: Path) -> None:
    (folder / "lines.txt").write_text("a\nb\n")

    assert run("produce", "in", "lines.txt").exit_code == 0
    assert content(topic) == [(None, b"a"), (None, b"b")]


def test_text_before_the_separator_is_the_key(run: Run, topic: bm.Topic) -> None:
    assert run("produce", "in", "--key-separator", "=>", stdin="a=>1\n=>2\nb=>c=>d\n").exit_code == 0

    assert content(topic) == [(b"a", b"1"), (b"", b"2"), (b"b", b"c=>d")]


def test_null_text_deletes(run: Run, topic: bm.Topic) -> None:
    run("produce", "in", "--key-separator", ":", "--null", "NULL", stdin="a:NULL\nb:\n")

    assert content(topic) == [(b"a", None), (b"b", b"")]


@pytest.mark.parametrize(
    ("serde", "text", "data"),
    [
        ("int", "7", bm.Int().serialize(7)),
        ("long", "-1", bm.Long().serialize(-1)),
        ("double", "0.5", bm.Double().serialize(0.5)),
        ("json", '{"a": 1}', b'{"a": 1}'),
        ("bytes", "0xff00", b"\xff\x00"),
    ],
)
def test_serdes_write_kafkas_bytes(run: Run, topic: bm.Topic, serde: str, text: str, data: bytes) -> None:
    line = f"{text}|{text}\n"

    shown = run(
        "produce", "in", "--key-separator", "|", "--key-serde", serde, "--value-serde", serde, stdin=line
    )

    assert shown.exit_code == 0, shown.stderr
    assert content(topic) == [(data, data)]


@pytest.mark.parametrize(
    ("arguments", "bad", "reason"),
    [
        (["--value-serde", "long"], "seven", "its value is not a 64-bit integer"),
        (["--value-serde", "int"], "99999999999", "does not fit the 4 bytes of Int"),
        (["--value-serde", "bytes"], "xyz", "its value is not 0x and hexadecimal digits"),
        (["--value-serde", "json"], "{", "its value is not JSON"),
        (["--format", "json"], "{", "Expecting property name"),
        (["--format", "json"], '{"value": 1, "partition": "x"}', "its partition is not a number"),
        (["--format", "json"], '{"value": 1, "headers": [1]}', "its headers are neither"),
        (["--format", "json"], '{"value": 1, "timestamp": "soon"}', "'soon' is not a time"),
        (["--format", "json", "--value-serde", "long"], '{"value": {}}', "invalid literal"),
    ],
)
def test_bad_line_is_named_and_lines_before_it_are_written(
    run: Run, topic: bm.Topic, arguments: list[str], bad: str, reason: str
) -> None:
    shown = run("produce", "in", *arguments, stdin=f"10\n11\n{bad}\n22\n")

    assert shown.exit_code == 1
    assert "Error: Line 3 of stdin is not a record: " in shown.stderr
    assert reason in shown.stderr
    assert f"Found: {bad}" in shown.stderr
    assert "Written so far: 2 lines." in shown.stderr
    assert len(content(topic)) == 2


def test_missing_separator_names_the_line(run: Run, topic: bm.Topic) -> None:
    shown = run("produce", "in", "--key-separator", ":", stdin="nothing\n")

    assert "Line 1 of stdin is not a record: there is no ':' between a key and a value." in shown.stderr


def test_json_line_is_a_record_or_a_value(run: Run, topic: bm.Topic) -> None:
    lines = [
        {"key": "a", "value": {"n": 1}, "timestamp": 5, "headers": {"h": "x", "none": None}},
        {"key": "b", "value": None, "timestamp": "1970-01-01T00:00:01Z"},
        {"item": "tea", "value": 3},
        "text",
        [1, 2],
        7,
    ]

    shown = run("produce", "in", "--format", "json", stdin="".join(json.dumps(line) + "\n" for line in lines))

    assert shown.exit_code == 0, shown.stderr
    records = list(topic.read(0))
    assert [(record.key, record.value) for record in records] == [
        (b"a", b'{"n":1}'),
        (b"b", None),
        (None, b'{"item":"tea","value":3}'),
        (None, b"text"),
        (None, b"[1,2]"),
        (None, b"7"),
    ]
    assert records[0].headers == (("h", b"x"), ("none", None))
    assert [record.timestamp for record in records[:2]] == [5, 1000]


def test_json_text_value_keeps_its_quotes_with_the_json_serde(run: Run, topic: bm.Topic) -> None:
    run("produce", "in", "--format", "json", "--value-serde", "json", stdin='"text"\n')

    assert content(topic) == [(None, b'"text"')]


def test_json_output_of_consume_can_be_produced_again(run: Run, topic: bm.Topic) -> None:
    topic.append([bm.Record(b"k", b'{"a": "b"}', 7, (("h", b"1"), ("h", b"2"))), bm.Record(None, None, 8)])
    copy = bm.Topics(topic.directory.parent).create("copy")

    lines = run("consume", "in", "--format", "json").stdout
    assert run("produce", "copy", "--format", "json", stdin=lines).exit_code == 0

    def comparable(log: bm.Topic) -> list[tuple[object, ...]]:
        return [(r.key, r.value, r.timestamp, r.headers, r.offset) for r in log.read(0)]

    assert comparable(copy) == comparable(topic)


def test_timestamp_and_partition_apply_to_all_lines(run: Run, folder: Path) -> None:
    topic = bm.Topics(folder / ".brookmere" / "topics").create("wide", 3)

    run("produce", "wide", "--timestamp", "2025-01-31T12:00:00+01:00", "--partition", "2", stdin="a\nb\n")
    run("produce", "wide", "--format", "json", "--timestamp", "9", "--partition", "1", stdin="1\n")

    assert [record.timestamp for record in topic.read(2)] == [1_738_321_200_000] * 2
    assert [record.timestamp for record in topic.read(1)] == [9]


def test_keys_go_to_kafkas_partitions(run: Run, folder: Path) -> None:
    topic = bm.Topics(folder / ".brookmere" / "topics").create("wide", 3)

    run("produce", "wide", "--key-separator", ":", stdin="".join(f"k{n}:v\n" for n in range(50)))

    for number in range(3):
        assert all(partition_for(record.key, 3) == number for record in topic.read(number))
    assert len(content(topic)) == 50


def test_missing_topic_is_created_on_request(run: Run, folder: Path) -> None:
    shown = run("produce", "new", "--create", "-p", "2", stdin="a\n")

    topic = bm.Topics(folder / ".brookmere" / "topics")["new"]
    assert shown.exit_code == 0
    assert f"Topic new created in {topic.directory}." in shown.stderr
    assert topic.partitions == 2
    assert len(content(topic)) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["in", "nothing.txt"], "The file nothing.txt does not exist."),
        (["in", "."], "The file . is a directory."),
        (["in", "--partition", "4"], "has no partition 4"),
        (["in", "--timestamp", "noon"], "'noon' is not a time."),
        (["in", "--key-separator", ""], "--key-separator is empty."),
        (
            ["in", "--format", "json", "--key-separator", ":"],
            "--key-separator and --null apply to lines of text",
        ),
    ],
)
def test_wrong_arguments_are_explained(run: Run, topic: bm.Topic, arguments: list[str], words: str) -> None:
    shown = run("produce", *arguments, stdin="a\n")

    assert shown.exit_code == 1
    assert words in shown.stderr
    assert content(topic) == []


def test_typed_line_is_written_before_the_next(topic: bm.Topic) -> None:
    command = [sys.executable, "-m", "brookmere", "produce", "in"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        for number in range(3):
            os.write(process.stdin.fileno(), b"line\n")
            deadline = time.monotonic() + 60
            while topic.end_offsets() != [number + 1]:
                assert time.monotonic() < deadline
                time.sleep(0.01)
        process.stdin.close()

    assert process.returncode == 0


def test_many_lines_are_written_in_few_appends(run: Run, topic: bm.Topic, folder: Path) -> None:
    (folder / "many.txt").write_text("".join(f"line {n}\n" for n in range(200_000)))

    run("produce", "in", "many.txt")

    assert topic.end_offsets() == [200_000]
    assert topic.describe().partitions[0].segments <= 2
