"""The partition of each record: the one it names, its key's, or round-robin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from brookmere.errors import TopicError
from brookmere.topics.partitioner import partitions_of


class Router:
    """Sends a record to the partition it names, to its key's, or round-robin if it has no key."""

    def __init__(self, topic: str, partitions: int) -> None:
        self._topic = topic
        self._partitions = partitions
        self._turn = 0

    def parts(
        self, content: pa.RecordBatch, named: Sequence[int | None] | None = None
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Split a batch by partition; the order within a partition is kept."""
        if content.num_rows == 0:
            return
        numbers = self._numbers(content.column("key"), named)
        if self._partitions == 1:
            yield 0, content
            return
        counts = {each["values"]: each["counts"] for each in pc.value_counts(numbers).to_pylist()}
        ordered = content if len(counts) == 1 else content.take(pc.array_sort_indices(numbers))
        start = 0
        for partition in sorted(counts):
            yield partition, ordered.slice(start, counts[partition])
            start += counts[partition]

    def _numbers(self, keys: pa.Array, named: Sequence[int | None] | None) -> pa.Array:
        numbers = partitions_of(keys, self._partitions)
        if named is not None and any(partition is not None for partition in named):
            numbers = pc.coalesce(self._checked(named), numbers)
        return self._filled(numbers) if numbers.null_count else numbers

    def _checked(self, named: Sequence[int | None]) -> pa.Array:
        numbers = pa.array(named, pa.int64())
        known = pc.min_max(numbers).as_py()
        if known["min"] < 0 or known["max"] >= self._partitions:
            wrong = known["min"] if known["min"] < 0 else known["max"]
            raise TopicError(
                f"The topic {self._topic!r} has no partition {wrong}: it has {self._partitions}, numbered "
                "from 0. Name one of these, or none to let the key decide."
            )
        return numbers.cast(pa.int32())

    def _filled(self, numbers: pa.Array) -> pa.Array:
        filled = numbers.to_pylist()
        for place, partition in enumerate(filled):
            if partition is None:
                filled[place] = self._turn
                self._turn = (self._turn + 1) % self._partitions
        return pa.array(filled, pa.int32())
