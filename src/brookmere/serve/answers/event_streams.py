"""Updates of a store as server-sent events, for as long as the client listens."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Any

from fastapi import FastAPI
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from brookmere.errors import StoreError, StoreNotReadyError
from brookmere.serde import BadBytes
from brookmere.serde.json.any_json import json_of
from brookmere.serve.answers.problems import Problem
from brookmere.state import AnyStore, Position, Row
from brookmere.state.description.json_values import shown
from brookmere.state.updates import Update, Updates

MEDIA_TYPE = "text/event-stream"
HEARTBEAT_SECONDS = 15.0
"""How often a comment keeps an idle stream alive, for clients and for proxies in between."""

_MOST_AT_ONCE = 500
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


class Streams:
    """The open streams, so that all can be ended at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: set[Callable[[], None]] = set()
        self.is_closed = False

    def __len__(self) -> int:
        return len(self._open)

    @contextlib.contextmanager
    def opened(self, wake: Callable[[], None]) -> Iterator[None]:
        """Count a stream while it is open; `wake` is called when it has to end."""
        with self._lock:
            self._open.add(wake)
        try:
            yield
        finally:
            with self._lock:
                self._open.discard(wake)

    def close(self) -> None:
        """End all streams, including those opened later."""
        self.is_closed = True
        with self._lock:
            waiting = list(self._open)
        for wake in waiting:
            wake()


def streams_of(api: FastAPI) -> Streams:
    """Return the streams of an API, open or not."""
    streams = getattr(api.state, "streams", None)
    if not isinstance(streams, Streams):
        streams = api.state.streams = Streams()
    return streams


class UpdateStream(Response):
    """A streaming response: the current rows, then each update.

    `known` returns the current rows and their position: updates up to that position are skipped.
    Updates that are slow to decode do not delay other responses.
    """

    media_type = MEDIA_TYPE

    def __init__(
        self,
        streams: Streams,
        store: AnyStore,
        subscribe: Callable[[], Updates],
        known: Callable[[], tuple[Iterable[Row], Position]],
        *,
        is_quick: bool = True,
        seconds: float | None = None,
        heartbeat: float = HEARTBEAT_SECONDS,
    ) -> None:
        super().__init__(headers=_HEADERS)
        del self.headers["content-length"]
        self._streams = streams
        self._store = store
        self._topic = store.info.topic
        self._subscribe = subscribe
        self._known = known
        self._is_quick = is_quick
        self._seconds = seconds
        self._heartbeat = heartbeat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        woken = asyncio.Event()
        leaving = asyncio.ensure_future(_left(receive))
        leaving.add_done_callback(lambda _: woken.set())
        wake = _waker(woken)
        try:
            with self._subscribe() as updates, self._streams.opened(wake):
                updates.on_update(wake)
                await self._send_all(updates, woken, leaving, send)
        finally:
            leaving.cancel()
        await send({"type": "http.response.body", "body": b""})

    async def _send_all(
        self, updates: Updates, woken: asyncio.Event, leaving: asyncio.Future[None], send: Send
    ) -> None:
        try:
            await self._send_rows(updates, woken, leaving, send)
        except (StoreError, BadBytes) as error:
            problem = Problem(503, _type(error), str(error))
            await _send(send, event(json.dumps(problem.content()).encode(), name="error"))

    async def _send_rows(
        self, updates: Updates, woken: asyncio.Event, leaving: asyncio.Future[None], send: Send
    ) -> None:
        loop = asyncio.get_running_loop()
        over = None if self._seconds is None else loop.time() + self._seconds
        rows, covered = await asyncio.to_thread(self._known)
        await _send(
            send, b"".join(event(json_of(self._content(row))) for row in rows) or b": nothing yet\n\n"
        )
        while not leaving.done() and not self._streams.is_closed:
            woken.clear()
            found = await self._take(updates, covered.get(self._topic, {}))
            if found:
                await _send(send, b"".join(self._event(update) for update in found))
                continue
            left = self._heartbeat if over is None else min(self._heartbeat, over - loop.time())
            if updates.is_closed or left <= 0:
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await woken.wait()
            if not woken.is_set():
                await _send(send, b": alive\n\n")

    async def _take(self, updates: Updates, covered: Any) -> list[Update]:
        if self._is_quick:
            return _take(updates, covered)
        return await asyncio.to_thread(_take, updates, covered)

    def _event(self, update: Update) -> bytes:
        at = json.dumps({self._topic: {str(update.partition): update.offset + 1}})
        content = {**self._shown(update.key, update.value), "timestamp": update.timestamp}
        return event(json_of(content), id=at)

    def _content(self, row: Row) -> dict[str, Any]:
        timestamp = None if row.value is None else row.timestamp
        return {**self._shown(row.key, row.value), "timestamp": timestamp}

    def _shown(self, key: Any, value: Any) -> dict[str, Any]:
        return shown(self._store.key_serde, self._store.value_serde, key, value)


def event(data: bytes, *, id: str | None = None, name: str | None = None) -> bytes:
    """Return an encoded event. The data is JSON, so it has no line breaks.

    >>> event(b'{"n":1}', name="error")
    b'event: error\\ndata: {"n":1}\\n\\n'
    """
    head = (f"event: {name}\n" if name else "") + (f"id: {id}\n" if id else "")
    return head.encode() + b"data: " + data + b"\n\n"


def _type(error: StoreError | BadBytes) -> str:
    match error:
        case StoreNotReadyError():
            return "not-ready"
        case StoreError():
            return "too-slow"
        case _:
            return "failed"


def _take(updates: Updates, covered: Any) -> list[Update]:
    found: list[Update] = []
    while len(found) < _MOST_AT_ONCE:
        update = updates.get(timedelta(0))
        if update is None:
            break
        # Updates from before the current rows were read are part of them; sending them would go back in time.
        if update.offset >= covered.get(update.partition, 0):
            found.append(update)
    return found


def _waker(woken: asyncio.Event) -> Callable[[], None]:
    loop = asyncio.get_running_loop()

    def wake() -> None:
        # The replica may have updates while the server's event loop ends.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(woken.set)

    return wake


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        continue


async def _send(send: Send, body: bytes) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": True})
