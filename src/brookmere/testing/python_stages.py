"""Serve the Python stages of an in-memory program in the thread of the test."""

from __future__ import annotations

import marshal
import struct
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from py4j.protocol import Py4JJavaError

from brookmere.errors import BrookmereError, RecordError
from brookmere.run.query.failures import from_python
from brookmere.worker.aggregates import FoldCode
from brookmere.worker.protocol.server import Server
from brookmere.worker.protocol.stage_code import StageCode
from brookmere.worker.task.failures import described

_HEAD = struct.Struct(">cI")


class PythonStages:
    """Runs batches whose Python stages run here, so that breakpoints and debuggers see the user's frames."""

    def __init__(self, runner: Any, codes: Mapping[int, StageCode | FoldCode]) -> None:
        self._runner = runner
        self._codes = codes
        self._raised: list[BaseException] = []
        self._channel = _Channel(runner)
        self._server = self._serving()

    def _serving(self) -> Server:
        return Server(self._channel, self._codes, self._raised.append)

    def run(self, records: bytearray) -> bytes:
        """Process records as one batch and return the output."""
        self._raised.clear()
        self._channel.begin(lambda: self._runner.start(records))
        try:
            self._server.run()
        except BaseException:
            self._runner.abort()
            self.restart()
            raise
        try:
            return bytes(self._runner.finished())
        except Py4JJavaError as error:
            failure = from_python(error)
            self.restart()
            raise failure from self._cause(failure)

    def restart(self) -> None:
        """Discard everything that is not in the state."""
        self._runner.restart()
        self.close()
        self._server = self._serving()

    def close(self) -> None:
        """Close the processors."""
        self._server.close()

    def _cause(self, failure: BrookmereError) -> BaseException | None:
        """Return the exception of user code behind a failure."""
        if isinstance(failure, RecordError):
            return next((e for e in self._raised if described(e)[0] == failure.reason), None)
        return self._raised[-1] if self._raised else None


class _Channel:
    """Passes messages between the JVM and the worker."""

    def __init__(self, runner: Any) -> None:
        self._runner = runner
        self._waiting: deque[tuple[str, Any]] = deque()
        self._reply: bytes | None = None

    def begin(self, start: Callable[[], Any]) -> None:
        self._reply = None
        self._take(start())

    def receive(self) -> tuple[str, Any] | None:
        """Return the next message for the worker; None if the batch is done."""
        if not self._waiting and self._reply is not None:
            reply, self._reply = self._reply, None
            self._take(self._runner.reply(bytearray(reply)))
        return self._waiting.popleft() if self._waiting else None

    def send(self, kind: str, payload: Any) -> None:
        """Buffer a message of the worker until it requests the next one."""
        data = marshal.dumps(payload, 2)
        self._reply = _HEAD.pack(kind.encode(), len(data)) + data

    def _take(self, frames: Any) -> None:
        data = b"" if frames is None else bytes(frames)
        at = 0
        while at < len(data):
            kind, length = _HEAD.unpack_from(data, at)
            at += _HEAD.size
            self._waiting.append((kind.decode(), marshal.loads(data[at : at + length])))
            at += length
