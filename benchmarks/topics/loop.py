"""A plain Python loop over the same topics, with its counts only in a dict."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from benchmarks.orders import LEAST_QUANTITY
from benchmarks.topics.workloads import Workload
from brookmere.topics import Topic

Read = Iterator[pa.RecordBatch]


class Loop:
    """The state between batches."""

    def __init__(self, workload: Workload, source: Topic, out: Topic, batches: int) -> None:
        self._workload = workload
        self._source = source
        self._out = out
        self._batches = batches
        self._ends = source.end_offsets()
        self._counts: dict[str, int] = {}

    def step(self, batch: int) -> int:
        """Read, decode, compute, encode and append batch number `batch`; return its number of records."""
        parts = [
            (partition, end * batch // self._batches, end * (batch + 1) // self._batches)
            for partition, end in enumerate(self._ends)
        ]
        read = (b for part in parts for b in self._source.read_batches(*part))
        results = {"words": self._words, "keys": self._keys, "orders": _orders}[self._workload.kind](read)
        self._out.append_batch(None, results)
        return sum(end - start for _, start, end in parts)

    def _words(self, read: Read) -> pa.RecordBatch:
        counts, changed = self._counts, {}
        for batch in read:
            for value in batch.column("value").to_pylist():
                for word in value.decode().lower().split(" "):
                    counts[word] = changed[word] = counts.get(word, 0) + 1
        return _encoded(changed)

    def _keys(self, read: Read) -> pa.RecordBatch:
        counts, changed = self._counts, {}
        for batch in read:
            for value in batch.column("key").to_pylist():
                key = value.decode()
                counts[key] = changed[key] = counts.get(key, 0) + 1
        return _encoded(changed)


def _encoded(counts: dict[str, int]) -> pa.RecordBatch:
    keys = pa.array([key.encode() for key in counts], pa.binary())
    values = pa.array([struct.pack(">q", count) for count in counts.values()], pa.binary())
    return pa.record_batch({"key": keys, "value": values})


def _orders(read: Read) -> pa.RecordBatch:
    keys, values, times = [], [], []
    for batch in read:
        columns = (batch.column(name) for name in ("key", "value", "timestamp"))
        for key, value, time in zip(*(_plain(column) for column in columns), strict=True):
            order = json.loads(value)
            if order["quantity"] >= LEAST_QUANTITY:
                total = order["quantity"] * order["price"]
                result = {"order": order["order"], "customer": order["customer"], "total": total}
                keys.append(key)
                values.append(json.dumps(result, separators=(",", ":")).encode())
                times.append(time)
    return pa.record_batch(
        {
            "key": pa.array(keys, pa.binary()),
            "value": pa.array(values, pa.binary()),
            "timestamp": pa.array(times, pa.int64()),
        }
    )


def _plain(column: pa.Array) -> Any:
    return (column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column).to_pylist()
