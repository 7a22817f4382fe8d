"""Measures the worker alone, without a JVM: microseconds per record.

    python -m benchmarks.python.worker_alone

Each record goes through a processor that gets, puts and forwards. The channel costs what it does in a worker:
chunks are read from bytes, results are written to bytes.
"""

from __future__ import annotations

import marshal
import sys
import time
from random import Random
from typing import Any

from brookmere.record import Record
from brookmere.worker.api.context import ProcessorContext
from brookmere.worker.api.processor import Processor
from brookmere.worker.protocol.channel import encoded
from brookmere.worker.protocol.server import Server
from brookmere.worker.protocol.stage_code import Child, NodeCode, ProcessWork, StageCode, StoreCode, TypeCode

ROWS = 4_000
CHUNKS = 25
ROUNDS = 8
STRING, LONG = TypeCode('"string"'), TypeCode('"long"')
STRUCT = TypeCode('{"type":"struct","fields":[{"name":"n","type":"long","nullable":true,"metadata":{}}]}')


class Count(Processor):
    """Counts the records of each key."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.counts = context.store("counts")

    def process(self, record: Record) -> None:
        count = (self.counts.get(record.key) or 0) + 1
        self.counts.put(record.key, count)
        self.context.forward(record.with_value(count))


class CountInDict(Count):
    """Counts the records of each key in a dict."""

    def process(self, record: Record) -> None:
        found = self.counts.get(record.key) or {"n": 0}
        found["n"] += 1
        self.counts.put(record.key, found)
        self.context.forward(record.with_value(found["n"]))


class Bytes:
    """A channel that supplies a batch of chunks, and has no stored rows."""

    def __init__(self, chunks: list[bytes]) -> None:
        self._chunks = chunks
        self._waiting: list[tuple[str, Any]] = []

    def begin(self) -> None:
        """Queue the chunks as one batch."""
        chunks = [("C", chunk) for chunk in self._chunks]
        self._waiting = [("E", encoded((1, 0))), *reversed(chunks), ("B", encoded((1, 0, False, {}, None)))]

    def receive(self) -> tuple[str, Any] | None:
        """Return the next message."""
        if not self._waiting:
            return None
        kind, payload = self._waiting.pop()
        return kind, marshal.loads(payload)

    def send(self, kind: str, payload: Any) -> None:
        """Take a message."""
        encoded(payload)
        if kind == "S":
            self._waiting.append(("A", encoded([None] * len(payload[3]))))


def measured(supplier: type[Processor], kept: TypeCode, *, keys: int, is_timed: bool, headers: Any) -> float:
    """Return the microseconds of CPU time per record, the best of some rounds."""
    random = Random(1)
    chunks = []
    for number in range(CHUNKS):
        places = list(range(number * ROWS, (number + 1) * ROWS))
        names = [f"key-{random.randrange(keys)}" for _ in places]
        heads = None if headers is None else [headers] * ROWS
        chunks.append(encoded((1, 0, 0, names, [1] * ROWS, places, heads, [0] * ROWS, places)))
    node = NodeCode(
        0,
        "count",
        ProcessWork(supplier, False, is_timed, False),
        *(STRING, LONG, STRING, LONG),
        children=(Child("sink", 1),),
        stores=("counts",),
        moves_time=True,
    )
    code = StageCode(1, (node,), (StoreCode("counts", "key_value", STRING, kept),), ("topic",))
    channel = Bytes(chunks)
    server = Server(channel, {1: code})
    times = []
    for _ in range(ROUNDS):
        channel.begin()
        begin = time.process_time()
        server.run()
        times.append(time.process_time() - begin)
    return min(times) / (CHUNKS * ROWS) * 1e6


def main() -> None:
    """Print a line per case."""
    cases: list[tuple[str, type[Processor], TypeCode, int, bool, Any]] = [
        ("100 keys", Count, LONG, 100, False, None),
        ("100,000 keys", Count, LONG, 100_000, False, None),
        ("100 keys, stream time", Count, LONG, 100, True, None),
        ("100 keys, headers", Count, LONG, 100, False, [("trace", b"1")]),
        ("100 keys, a dict in the store", CountInDict, STRUCT, 100, False, None),
    ]
    for name, supplier, kept, keys, is_timed, headers in cases:
        cost = measured(supplier, kept, keys=keys, is_timed=is_timed, headers=headers)
        sys.stdout.write(f"{name:32}{cost:5.2f} µs per record\n")


if __name__ == "__main__":
    main()
