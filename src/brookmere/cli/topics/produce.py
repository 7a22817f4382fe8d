"""The `brookmere produce` command."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import pyarrow as pa
import typer

from brookmere.cli.options.formats import WRITTEN, Format, written_format
from brookmere.cli.options.parameters import TopicsDir, read_time
from brookmere.cli.options.topics_location import (
    BootstrapServer,
    ClientConfig,
    ClientSettings,
    TopicName,
    chosen_topics,
    where,
)
from brookmere.cli.terminal import console
from brookmere.cli.topics.json_records import record_of_json
from brookmere.cli.topics.lines import line_blocks
from brookmere.errors import CommandError
from brookmere.topics import AnyTopic, Topic, Topics

if TYPE_CHECKING:
    from brookmere.topics.kafka import KafkaTopics

# Enough to recognise a line; more would hide the message.
_SHOWN_LINE = 200


class LineFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


def produce(
    topic: TopicName,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The file to read; stdin by default.", show_default=False),
    ] = None,
    form: Annotated[
        LineFormat,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="text: a line is a value. json: a line is a JSON value, or a record such as "
            '{"key": "k", "value": 1, "timestamp": 0, "headers": {"h": "x"}, "partition": 0}.',
        ),
    ] = LineFormat.TEXT,
    key_separator: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="The separator between key and value in a line of text.",
            show_default=False,
        ),
    ] = None,
    key_serde: Annotated[
        str, typer.Option(metavar="FORMAT", help=f"The format of the keys: {WRITTEN}.")
    ] = "text",
    value_serde: Annotated[
        str, typer.Option(metavar="FORMAT", help=f"The format of the values: {WRITTEN}.")
    ] = "text",
    null: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT",
            help="The text that means a null value, which deletes a row of a table.",
            show_default=False,
        ),
    ] = None,
    timestamp: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="The timestamp of the records: milliseconds since 1970, or an ISO time. By default, now.",
            show_default=False,
        ),
    ] = None,
    partition: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="The partition; by default chosen by the key.", show_default=False
        ),
    ] = None,
    create: Annotated[bool, typer.Option("--create", help="Create the topic if it does not exist.")] = False,
    partitions: Annotated[
        int,
        typer.Option(
            "--partitions", "-p", min=1, metavar="N", help="With --create: the number of partitions."
        ),
    ] = 1,
    topics_dir: TopicsDir = None,
    bootstrap_server: BootstrapServer = None,
    client_config: ClientConfig = None,
    client: ClientSettings = None,
) -> None:
    """Append lines to a topic.

    Lines are written as they arrive; a typed line is written immediately.

    \b
    Examples:
      echo "to be or not to be" | brookmere produce lines --create
      brookmere produce orders orders.txt --key-separator :
      brookmere produce orders orders.jsonl --format json
      brookmere produce orders orders.jsonl --format json --bootstrap-server localhost:9092
    """
    formats = written_format(key_serde), written_format(value_serde)
    topics = chosen_topics(topics_dir, bootstrap_server, client_config, client)
    log = _topic(topics, topic, create, partitions)
    time_of_all = None if timestamp is None else read_time(timestamp)
    if form is LineFormat.JSON:
        if key_separator is not None or null is not None:
            raise CommandError(
                "--key-separator and --null apply to lines of text, but the format is json.\n"
                'Write keys and nulls as JSON: {"key": "k", "value": null}.'
            )
        write = _json_writer(log, *formats, time_of_all, partition)
    else:
        write = _text_writer(log, key_separator, *formats, null, time_of_all, partition)
    started = time.monotonic()
    with _opened(file) as (source, name):
        count = 0
        for lines in line_blocks(source):
            count += _write_block(write, lines, name, count)
    seconds = time.monotonic() - started
    rate = f", {count / seconds:,.0f} records/s" if count >= 1000 else ""
    console.say(f"{console.counted(count, 'record')} to {topic} in {seconds:.1f} s{rate}.")


class _BadLineError(Exception):
    """A line that is not a record: its place in the block, and the reason."""

    def __init__(self, place: int, reason: str) -> None:
        super().__init__(reason)
        self.place = place


Write = Callable[[Sequence[bytes]], None]
"""Appends all lines or none; raises _BadLineError for the first line that is not a record."""


def _write_block(write: Write, lines: Sequence[bytes], name: str, before: int) -> int:
    try:
        write(lines)
    except _BadLineError as failure:
        # The lines before the bad one are written, so that the user can fix it and continue from there.
        if failure.place:
            write(lines[: failure.place])
        number = before + failure.place + 1
        text = lines[failure.place].decode(errors="replace")[:_SHOWN_LINE]
        raise CommandError(
            f"Line {number:,} of {name} is not a record: {failure}.\nFound: {text}\n"
            f"Written so far: {console.counted(number - 1, 'line')}. Fix this one and continue from it."
        ) from failure
    return len(lines)


def _text_writer(
    log: AnyTopic,
    separator: str | None,
    key_serde: Format,
    value_serde: Format,
    null: str | None,
    timestamp: int | None,
    partition: int | None,
) -> Write:
    nothing = None if null is None else null.encode()
    between = None if separator is None else separator.encode()
    if between == b"":
        raise CommandError(
            "--key-separator is empty.\nGive the text between key and value, for example: --key-separator :"
        )

    def write(lines: Sequence[bytes]) -> None:
        texts: Sequence[bytes] = lines
        columns = {}
        if between is not None:
            pairs = [line.partition(between) for line in lines]
            for place, pair in enumerate(pairs):
                if not pair[1]:
                    raise _BadLineError(place, f"there is no {separator!r} between a key and a value")
            keys = _encoded([pair[0] for pair in pairs], key_serde, "key")
            columns["key"] = pa.array(keys, pa.binary())
            texts = [pair[2] for pair in pairs]
        values = _encoded(texts, value_serde, "value", nothing)
        columns["value"] = pa.array(values, pa.binary())
        if timestamp is not None:
            columns["timestamp"] = pa.array([timestamp] * len(lines), pa.int64()).cast(
                pa.timestamp("ms", "UTC")
            )
        log.append_batch(partition, pa.RecordBatch.from_pydict(columns))

    return write


def _encoded(
    texts: Sequence[bytes], serde: Format, role: str, nothing: bytes | None = None
) -> Sequence[bytes | None]:
    if serde.name == "text":
        return texts if nothing is None else [None if text == nothing else text for text in texts]
    found: list[bytes | None] = []
    for place, text in enumerate(texts):
        try:
            found.append(None if nothing is not None and text == nothing else serde.encode(text.decode()))
        except (ValueError, TypeError) as failure:
            raise _BadLineError(place, f"its {role} is not {serde.expected} ({failure})") from failure
    return found


def _json_writer(
    log: AnyTopic, key_serde: Format, value_serde: Format, timestamp: int | None, partition: int | None
) -> Write:
    def write(lines: Sequence[bytes]) -> None:
        records = []
        for place, line in enumerate(lines):
            try:
                record = record_of_json(line, key_serde, value_serde, timestamp, partition)
            except (ValueError, TypeError, CommandError) as failure:
                raise _BadLineError(place, str(failure).partition("\n")[0].rstrip(".")) from failure
            records.append(record)
        log.append(records)

    return write


def _topic(topics: Topics | KafkaTopics, name: str, create: bool, partitions: int) -> AnyTopic:
    if create and name not in topics:
        topic = topics.create(name, partitions, exist_ok=True)
        place = f"in {topic.directory}" if isinstance(topic, Topic) else where(topics)
        console.say(f"Topic {name} created {place}.")
        return topic
    return topics[name]


@contextmanager
def _opened(file: Path | None) -> Iterator[tuple[BinaryIO, str]]:
    if file is None or str(file) == "-":
        if sys.stdin.isatty():
            console.say("Type lines; press Ctrl-D to finish.", style="dim")
        yield sys.stdin.buffer, "stdin"
        return
    try:
        with file.open("rb") as source:
            yield source, str(file)
    except (FileNotFoundError, IsADirectoryError) as failure:
        what = "is a directory" if file.is_dir() else "does not exist"
        raise CommandError(f"The file {file} {what}.\nName a file of lines, or pipe them in.") from failure
