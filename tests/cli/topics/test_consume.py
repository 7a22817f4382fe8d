"""`consume` shows records, guesses their formats, follows new ones, and stops where requested."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

import brookmere as bm
from tests.cli.conftest import Run


@pytest.fixture
def topic(folder: Path) -> bm.Topic:
    """Three records in two partitions, the first in time in the second."""
    topic = bm.Topics(folder / ".brookmere" / "topics").create("out", 2)
    long = bm.Long().serialize(42)
    topic.append(
        [
            bm.Record(b"brook", long, 2000, partition=0),
            bm.Record(b"mere", b"text", 1000, (("source", b"test"),), partition=1),
            bm.Record(None, None, 3000, partition=0),
        ]
    )
    return topic


def test_table_shows_records_in_the_order_of_time(run: Run, topic: bm.Topic) -> None:
    shown = run("consume", "out")

    assert shown.exit_code == 0
    assert shown.stdout == (
        "PARTITION  OFFSET  TIME (UTC)               KEY    VALUE  HEADERS\n"
        "        1       0  1970-01-01 00:00:01.000  mere   text   source=test\n"
        "        0       0  1970-01-01 00:00:02.000  brook  42\n"
        "        0       1  1970-01-01 00:00:03.000  null   null\n"
    )


def test_json_has_one_object_per_line(run: Run, topic: bm.Topic) -> None:
    lines = [json.loads(line) for line in run("consume", "out", "--format", "json").stdout.splitlines()]

    assert lines[0] == {
        "topic": "out",
        "partition": 1,
        "offset": 0,
        "timestamp": 1000,
        "time": "1970-01-01 00:00:01.000",
        "key": "mere",
        "value": "text",
        "headers": {"source": "test"},
    }
    assert [line["value"] for line in lines] == ["text", 42, None]


def test_value_format_shows_nothing_else(run: Run, topic: bm.Topic) -> None:
    assert run("consume", "out", "--format", "value").stdout == "text\n42\nnull\n"


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ([], ["text", "42", "null"]),
        (["--from-beginning"], ["text", "42", "null"]),
        (["--max", "2"], ["text", "42"]),
        (["--partition", "0"], ["42", "null"]),
        (["--partition", "0", "--partition", "1"], ["text", "42", "null"]),
        (["--offset", "1"], ["null"]),
        (["--offset", "-1"], ["text", "null"]),
        (["--offset", "-100"], ["text", "42", "null"]),
        (["--offset", "100"], []),
        (["--follow", "--from-beginning", "--max", "3"], ["text", "42", "null"]),
    ],
)
def test_part_of_the_topic_is_shown(
    run: Run, topic: bm.Topic, arguments: list[str], values: list[str]
) -> None:
    shown = run("consume", "out", "--format", "value", *arguments)

    assert shown.exit_code == 0
    assert shown.stdout.splitlines() == values


def test_serdes_can_be_named(run: Run, topic: bm.Topic) -> None:
    shown = run("consume", "out", "-n", "2", "--format", "value", "--value-serde", "bytes")

    assert shown.stdout == "0x74657874\n0x000000000000002a\n"


def test_serde_that_does_not_fit_names_the_record(run: Run, topic: bm.Topic) -> None:
    shown = run("consume", "out", "--value-serde", "long")

    assert shown.exit_code == 1
    assert shown.stderr == (
        "Error: The value at offset 0 of partition 1 of out does not fit the format long: "
        "expected 8 bytes for a Long, found 4.\nOmit --value-serde to see its bytes.\n"
    )


def test_characters_that_would_break_the_table_are_escaped(run: Run, folder: Path) -> None:
    topic = bm.Topics(folder / ".brookmere" / "topics").create("odd")
    topic.append([bm.Record(b"\x1b[31m", b"two\nlines\t", 0), bm.Record(b"\xff\xfe", b"f\xc3\xbcr", 0)])

    first, second = run("consume", "odd").stdout.splitlines()[1:]

    assert first.endswith(r"0x1b5b33316d  two\nlines\t")
    assert second.endswith("0xfffe        für")
    assert run("consume", "odd", "--format", "value", "-n", "1").stdout == "two\nlines\t\n"


def test_empty_topic_is_reported_on_stderr(run: Run, folder: Path) -> None:
    bm.Topics(folder / ".brookmere" / "topics").create("empty")

    shown = run("consume", "empty")

    assert (shown.exit_code, shown.stdout) == (0, "")
    assert shown.stderr == "The topic empty has no records to show.\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--partition", "2"], "The topic out has no partition 2.\nIt has 2, numbered from 0."),
        (
            ["--from-beginning", "--offset", "1"],
            "--from-beginning and --offset cannot be combined: each says where to start.",
        ),
    ],
)
def test_wrong_arguments_are_explained(run: Run, topic: bm.Topic, arguments: list[str], words: str) -> None:
    shown = run("consume", "out", *arguments)

    assert shown.exit_code == 1
    assert words in shown.stderr


def follower(*arguments: str) -> subprocess.Popen[str]:
    command = [
        sys.executable,
        "-m",
        "brookmere",
        "consume",
        "out",
        "--follow",
        "--format",
        "value",
        *arguments,
    ]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_follow_shows_new_records_until_ctrl_c(topic: bm.Topic) -> None:
    with follower("--from-beginning", "--partition", "0") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert [process.stdout.readline() for _ in range(2)] == ["42\n", "null\n"]
        topic.append([bm.Record(None, b"new", 4000, partition=0)])
        assert process.stdout.readline() == "new\n"
        os.kill(process.pid, signal.SIGINT)
        rest = process.stdout.read(), process.stderr.read()

    assert rest == ("", "")
    assert process.returncode == 130


def test_follow_starts_at_the_end(topic: bm.Topic) -> None:
    with follower("--max", "1") as process:
        assert process.stdout is not None
        while process.poll() is None:
            # It may not have looked yet where the end is; what comes later is new in any case.
            topic.append([bm.Record(None, b"new", 4000)])
            try:
                process.wait(0.2)
            except subprocess.TimeoutExpired:
                continue
        assert process.stdout.read() == "new\n"

    assert process.returncode == 0


def test_values_with_schema_ids_are_decoded_with_the_registry(run: Run, folder: Path) -> None:
    registry = "mock://consume"
    serdes = {
        bm.Avro("id bigint not null, price decimal(5,2) not null", registry=registry, subject="a"): {
            "id": 1,
            "price": Decimal("1.50"),
        },
        bm.Protobuf(
            'syntax = "proto3"; message A {} message B { int32 b = 1; }',
            message="B",
            registry=registry,
            subject="p",
        ): {"b": 7},
        bm.JsonSchema("s string", registry=registry, subject="j"): {"s": "x"},
    }
    records = [bm.Record(None, serde.serialize(value), n) for n, (serde, value) in enumerate(serdes.items())]
    unknown = bm.Record(None, b"\0\0\0\0\x63x", 9)
    bm.Topics(folder / ".brookmere" / "topics").create("schemas").append([*records, unknown])

    shown = run("consume", "schemas", "--format", "value", "--registry", registry)

    assert shown.stdout.splitlines() == [
        '{"id": 1, "price": 1.5}',
        '{"b": 7}',
        '{"s": "x"}',
        "0x000000006378",
    ]
