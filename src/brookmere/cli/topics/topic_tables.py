"""Topics as tables and JSON, for embedded topics and Kafka."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brookmere.cli.options.parameters import shown_time
from brookmere.cli.terminal import console
from brookmere.topics import TopicInfo

if TYPE_CHECKING:
    from brookmere.topics.kafka import KafkaTopicInfo


def write_summaries(found: Sequence[TopicInfo | KafkaTopicInfo]) -> None:
    """Write a line for each topic."""
    sized = all(isinstance(info, TopicInfo) for info in found)
    numbers = ("PARTITIONS", "RECORDS", "SIZE") if sized else ("PARTITIONS", "RECORDS")
    rows = console.table("TOPIC", *numbers, "LAST RECORD (UTC)", "CLEANUP", numbers=numbers)
    for info in found:
        last = _last(info)
        rows.add_row(
            info.name,
            f"{len(info.partitions)}",
            f"{info.records:,}",
            *([console.size(info.bytes)] if isinstance(info, TopicInfo) else []),
            "-" if last is None else shown_time(last),
            info.config.cleanup_policy or "-",
        )
    console.write_table(rows)


def summary(info: TopicInfo | KafkaTopicInfo) -> dict[str, Any]:
    """Return the fields of a line, for JSON."""
    return {
        "name": info.name,
        "partitions": len(info.partitions),
        "records": info.records,
        **({"bytes": info.bytes} if isinstance(info, TopicInfo) else {}),
        "last_timestamp": _last(info),
        "cleanup.policy": info.config.cleanup_policy,
    }


def write_details(info: TopicInfo | KafkaTopicInfo, place: str) -> None:
    """Write the partitions, settings and writers of a topic."""
    console.write(f"Topic {info.name} {place}")
    if isinstance(info, TopicInfo):
        console.write(f"{console.counted(info.records, 'record')}, {console.size(info.bytes)}\n")
        _write_embedded(info)
    else:
        # Compaction and transactions leave gaps in the offsets that are not counted.
        console.write(f"{console.counted(info.records, 'record')} at most\n")
        _write_kafka(info)
    console.write("")
    settings_of = console.table("SETTING", "VALUE")
    for setting, value in info.config.by_name().items():
        settings_of.add_row(setting, str(value))
    console.write_table(settings_of)
    if isinstance(info, TopicInfo) and info.writers:
        console.write("")
        writers = console.table("WRITTEN BY", "LAST BATCH", numbers=("LAST BATCH",))
        for application, position in info.writers.items():
            writers.add_row(application, f"{position.batch}")
        console.write_table(writers)


def details(info: TopicInfo | KafkaTopicInfo, directory: Path | None) -> dict[str, Any]:
    """Return all details, for JSON."""
    partitions: Sequence[Any] = info.partitions
    return {
        "name": info.name,
        "id": info.id,
        **({} if directory is None else {"directory": str(directory)}),
        "partitions": [{"partition": n, **asdict(part)} for n, part in enumerate(partitions)],
        "config": info.config.by_name(),
        **(
            {"writers": {name: asdict(position) for name, position in info.writers.items()}}
            if isinstance(info, TopicInfo)
            else {}
        ),
    }


def _write_embedded(info: TopicInfo) -> None:
    numbers = ("PARTITION", "FIRST OFFSET", "NEXT OFFSET", "RECORDS", "SIZE", "SEGMENTS")
    rows = console.table(*numbers, "LAST RECORD (UTC)", numbers=numbers)
    for number, part in enumerate(info.partitions):
        counts = (f"{part.start:,}", f"{part.end:,}", f"{part.records:,}")
        sizes = (console.size(part.bytes), f"{part.segments:,}")
        rows.add_row(f"{number}", *counts, *sizes, _time(part.last_timestamp))
    console.write_table(rows)


def _write_kafka(info: KafkaTopicInfo) -> None:
    numbers = ("PARTITION", "FIRST OFFSET", "NEXT OFFSET", "LEADER")
    rows = console.table(*numbers, "REPLICAS", "IN SYNC", "LAST RECORD (UTC)", numbers=numbers)
    for number, part in enumerate(info.partitions):
        rows.add_row(
            f"{number}",
            f"{part.start:,}",
            f"{part.end:,}",
            "-" if part.leader is None else f"{part.leader}",
            ",".join(map(str, part.replicas)),
            ",".join(map(str, part.in_sync)),
            _time(part.last_timestamp),
        )
    console.write_table(rows)


def _last(info: TopicInfo | KafkaTopicInfo) -> int | None:
    return max((p.last_timestamp for p in info.partitions if p.last_timestamp is not None), default=None)


def _time(milliseconds: int | None) -> str:
    return "-" if milliseconds is None else shown_time(milliseconds)
