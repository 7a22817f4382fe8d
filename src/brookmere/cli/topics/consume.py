"""The `brookmere consume` command."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

import typer

from brookmere.cli.options.formats import SHOWN, Format, shown_format
from brookmere.cli.options.parameters import TopicsDir
from brookmere.cli.options.topics_location import (
    BootstrapServer,
    ClientConfig,
    ClientSettings,
    TopicName,
    chosen_topics,
)
from brookmere.cli.terminal import console
from brookmere.cli.terminal.record_table import RecordTable, as_text
from brookmere.cli.topics.json_records import json_of_record
from brookmere.errors import CommandError
from brookmere.record import Record
from brookmere.registry import RegistryClient
from brookmere.topics import AnyTopic

_BLOCK = 1000
_PATIENCE_SECONDS = 0.5


class RecordFormat(StrEnum):
    TABLE = "table"
    JSON = "json"
    VALUE = "value"


def consume(
    topic: TopicName,
    from_beginning: Annotated[
        bool,
        typer.Option("--from-beginning", help="Start from the first record; the default without --follow."),
    ] = False,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Start at the end and wait for new records until Ctrl-C.")
    ] = False,
    most: Annotated[
        int | None,
        typer.Option(
            "--max", "-n", min=1, metavar="N", help="Stop after this many records.", show_default=False
        ),
    ] = None,
    partition: Annotated[
        list[int] | None,
        typer.Option(min=0, metavar="N", help="Only this partition; may be repeated.", show_default=False),
    ] = None,
    offset: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Start from this offset; -10 shows the last ten records of each partition.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        RecordFormat,
        typer.Option(
            "--format", metavar="FORMAT", help="table, json (one line per record), or value (values only)."
        ),
    ] = RecordFormat.TABLE,
    key_serde: Annotated[
        str, typer.Option(metavar="FORMAT", help=f"The format of the keys: {SHOWN}.")
    ] = "auto",
    value_serde: Annotated[
        str, typer.Option(metavar="FORMAT", help=f"The format of the values: {SHOWN}.")
    ] = "auto",
    registry: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The schema registry with the schemas of keys and values.",
            show_default=False,
        ),
    ] = None,
    topics_dir: TopicsDir = None,
    bootstrap_server: BootstrapServer = None,
    client_config: ClientConfig = None,
    client: ClientSettings = None,
) -> None:
    """Show the records of a topic.

    Shows all records and exits. With --follow it starts at the end and waits for new ones, and with
    --follow --from-beginning it does both. The format auto shows printable text as text, eight other bytes as
    a long, and anything else in hex; with --registry it decodes Avro, Protobuf and JSON that start with a
    schema id. Records of several partitions are shown in timestamp order.

    \b
    Examples:
      brookmere consume word-counts
      brookmere consume word-counts --follow --format json
      brookmere consume word-counts --partition 0 --offset -10
      brookmere consume word-counts --follow --bootstrap-server localhost:9092
    """
    if from_beginning and offset is not None:
        raise CommandError(
            "--from-beginning and --offset cannot be combined: each says where to start.\n"
            "Give only one of them."
        )
    topics = chosen_topics(topics_dir, bootstrap_server, client_config, client)
    log = topics[topic]
    positions = _positions(log, partition, offset, at_end=follow and not from_beginning)
    client_of_registry = None if registry is None else RegistryClient(registry)
    formats = (shown_format(name, client_of_registry) for name in (key_serde, value_serde))
    lines_of = _formatter(form, *formats)
    if follow and console.err.is_terminal:
        console.say("Waiting for records; press Ctrl-C to stop.", style="dim")
    shown = 0
    with topics.consumer(topic, start=positions, follow=follow) as consumer:
        while most is None or shown < most:
            limit = _BLOCK if most is None else min(_BLOCK, most - shown)
            records = consumer.poll(timedelta(seconds=_PATIENCE_SECONDS if follow else 0), limit=limit)
            if not records and not follow:
                break
            shown += len(records)
            console.out.file.write("".join(f"{line}\n" for line in lines_of(records)))
            console.out.file.flush()
    if not shown:
        console.say(f"The topic {topic} has no records to show.")


def _positions(
    log: AnyTopic, partitions: list[int] | None, offset: int | None, *, at_end: bool
) -> dict[int, int]:
    starts, ends = log.start_offsets(), log.end_offsets()
    chosen = range(log.partitions) if partitions is None else partitions
    for number in chosen:
        if number >= log.partitions:
            raise CommandError(
                f"The topic {log.name} has no partition {number}.\nIt has {log.partitions}, numbered from 0."
            )
    if offset is None:
        return {number: (ends if at_end else starts)[number] for number in chosen}
    if offset < 0:
        return {number: max(starts[number], ends[number] + offset) for number in chosen}
    return {number: min(max(starts[number], offset), ends[number]) for number in chosen}


def _formatter(
    form: RecordFormat, key_format: Format, value_format: Format
) -> Callable[[list[Record]], list[str]]:
    """Return the function that formats records as lines."""
    table = RecordTable()

    def shown_key(record: Record) -> object:
        return _shown(record, "key", record.key, key_format)

    def shown_value(record: Record) -> object:
        return _shown(record, "value", record.value, value_format)

    def rows(records: list[Record]) -> list[str]:
        return table.lines(
            [
                (
                    record.partition,
                    record.offset,
                    record.timestamp,
                    shown_key(record),
                    shown_value(record),
                    record.headers,
                )
                for record in records
            ]
        )

    def values(records: list[Record]) -> list[str]:
        return [as_text(shown_value(record), escape=False) for record in records]

    def objects(records: list[Record]) -> list[str]:
        return [
            json_of_record(
                record,
                key=shown_key(record),
                value=shown_value(record),
            )
            for record in records
        ]

    return {RecordFormat.TABLE: rows, RecordFormat.VALUE: values, RecordFormat.JSON: objects}[form]


def _shown(record: Record, role: str, data: bytes | None, format: Format) -> object:
    try:
        return None if data is None else format.decode(data)
    except ValueError as failure:
        raise CommandError(
            f"The {role} at offset {record.offset} of partition {record.partition} of "
            f"{record.topic} does not "
            f"fit the format {format.name}: {failure}.\nOmit --{role}-serde to see its bytes."
        ) from failure
