"""Requests random keys over HTTP, one at a time per connection, and writes the measurements as JSON.

`client PORT STORE KEYS CONNECTIONS SECONDS CORE`. Requests and answers are bytes: a library for HTTP would
take more time than the server.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import sys
import time

from benchmarks.queries import cores
from benchmarks.queries.data import key_of

_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = b"content-length: "


class Connection(asyncio.Protocol):
    """Sends a request, waits for the answer, and sends the next one until the time is up."""

    def __init__(self, store: str, keys: int, seed: int, until: float) -> None:
        self._dice = random.Random(seed)
        self._store = store
        self._keys = keys
        self._until = until
        self._sent = 0.0
        self._held = b""
        self.times: list[float] = []
        self.failed = 0
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._ask()

    def data_received(self, data: bytes) -> None:
        self._held += data
        head = self._held.find(_END_OF_HEAD)
        if head < 0:
            return
        at = self._held.lower().find(_LENGTH, 0, head) + len(_LENGTH)
        size = int(self._held[at : self._held.find(b"\r\n", at)])
        if len(self._held) < head + len(_END_OF_HEAD) + size:
            return
        self.times.append(time.perf_counter() - self._sent)
        self.failed += not self._held.startswith(b"HTTP/1.1 200")
        self._held = b""
        self._ask()

    def connection_lost(self, error: Exception | None) -> None:
        if not self.over.done():
            self.over.set_exception(error or ConnectionError("the server has closed the connection"))

    def finish(self) -> None:
        """Send no more requests."""
        self._until = 0.0

    def _ask(self) -> None:
        self._sent = time.perf_counter()
        if self._sent >= self._until:
            self.over.set_result(None)
            self._transport.close()
            return
        key = key_of(self._dice.randrange(self._keys))
        request = f"GET /stores/{self._store}/{key} HTTP/1.1\r\nhost: bench\r\n\r\n"
        self._transport.write(request.encode("ascii"))


async def main(port: int, store: str, keys: int, connections: int, seconds: float) -> None:
    """Keep this many requests in flight for some seconds, or until asked to stop, and write a line."""
    loop = asyncio.get_running_loop()
    begun = time.perf_counter()
    until = begun + seconds
    made = [
        (await loop.create_connection(lambda n=n: Connection(store, keys, n, until), "127.0.0.1", port))[1]
        for n in range(connections)
    ]
    loop.add_signal_handler(signal.SIGTERM, lambda: [connection.finish() for connection in made])
    sys.stdout.write("asking\n")
    sys.stdout.flush()
    await asyncio.gather(*(connection.over for connection in made))
    took = time.perf_counter() - begun
    times = sorted(each for connection in made for each in connection.times)
    document = {
        "reads": len(times),
        "seconds": took,
        "failed": sum(connection.failed for connection in made),
        "p50": times[len(times) // 2],
        "p99": times[len(times) * 99 // 100],
        "most": times[-1],
    }
    sys.stdout.write(json.dumps(document) + "\n")


if __name__ == "__main__":
    cores.take(int(sys.argv[6]))
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])))
