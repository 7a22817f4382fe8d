"""Topics as folders of JSON files, which Spark reads as streams, and a sink that remembers."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

COLUMNS = (
    "key string, value string, partition int, offset bigint, timestamp bigint, "
    "headers array<struct<key: string, value: binary>>"
)


@dataclass
class Topic:
    """A topic to which each call of `append` adds a file, so that a batch can read it."""

    folder: Path
    columns: str = COLUMNS
    _files: int = 0
    _offsets: dict[int, int] = field(default_factory=dict)

    def append(
        self, records: Iterable[tuple[str | None, str | None, int]], partition: int = 0, **more: Any
    ) -> None:
        """Add records of (key, value, timestamp) to a partition."""
        lines = []
        for key, value, timestamp in records:
            offset = self._offsets.get(partition, 0)
            self._offsets[partition] = offset + 1
            row = {"key": key, "value": value, "partition": partition, "offset": offset}
            lines.append(json.dumps({**row, "timestamp": timestamp, **more}))
        self.folder.mkdir(parents=True, exist_ok=True)
        hidden = self.folder / f".{self._files}"
        hidden.write_text("\n".join(lines))
        hidden.rename(self.folder / f"{self._files:06}.json")
        self._files += 1

    def stream(self, spark: SparkSession) -> DataFrame:
        """Return the topic as a stream."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return spark.readStream.schema(self.columns).json(str(self.folder))


@dataclass
class Memory:
    """A sink that keeps the rows of all batches, in their order of arrival."""

    rows: list[Row] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)

    def __call__(self, rows: DataFrame, batch: int) -> None:
        place = ("clock", "source", "seq", "due", "step")
        self.rows += sorted(rows.collect(), key=lambda row: [row[name] for name in place])
        self.batches.append(batch)

    def records(self) -> list[tuple[str | None, str | None, str | None, int]]:
        """Return (topic, key, value, timestamp) of the records, with texts for bytes."""
        return [
            (row["topic"], _text(row["key"]), _text(row["value"]), row["timestamp"])
            for row in self.rows
            if row["kind"] == "record"
        ]

    def values(self) -> list[str | None]:
        return [value for _, _, value, _ in self.records()]


def _text(data: bytearray | None) -> str | None:
    return None if data is None else bytes(data).decode()
