"""An HTTP server that runs an API in a thread of this process."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from types import TracebackType
from typing import Self

import uvicorn
from fastapi import FastAPI

from brookmere.durations import Duration, to_seconds
from brookmere.errors import ServerError
from brookmere.serve.addresses import shown_address
from brookmere.serve.answers.event_streams import streams_of

_log = logging.getLogger(__name__)

_START_SECONDS = 30.0
_LOOK_SECONDS = 0.005
# How long running requests may take after a stop; streams of updates end at once.
_GRACE_SECONDS = 3


class Server:
    """Serves HTTP in a thread of this process, from `start` to `stop`.

    Port 0 takes a free port; `port` and `url` say which. Signal handlers stay as they are, and requests are
    logged only with `access_log`.
    """

    def __init__(
        self, api: FastAPI, host: str = "127.0.0.1", port: int = 7000, *, access_log: bool = False
    ) -> None:
        self.api = api
        self.host = host
        self.port = port
        self._access_log = access_log
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
        self._on_stop: list[contextlib.AbstractContextManager[object]] = []

    @property
    def address(self) -> str:
        """The host and the port, such as 127.0.0.1:7000."""
        return shown_address(self.host, self.port)

    @property
    def url(self) -> str:
        """The URL of the server, such as http://127.0.0.1:7000."""
        return f"http://{self.address}"

    @property
    def is_running(self) -> bool:
        """Whether the server is running."""
        return self._thread is not None and self._thread.is_alive()

    def bind(self) -> socket.socket:
        """Bind the port.

        Raises:
            ServerError: the host is unknown, or the port is already in use.
        """
        try:
            family, _, _, _, place = socket.getaddrinfo(
                self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            bound = socket.socket(family, socket.SOCK_STREAM)
        except OSError as error:
            raise self._unbound(error) from error
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(place)
            bound.listen(2048)
        except OSError as error:
            bound.close()
            raise self._unbound(error) from error
        self.port = int(bound.getsockname()[1])
        return bound

    def start(self) -> Self:
        """Start the server, and return once it accepts requests.

        Raises:
            ServerError: it cannot listen there, or a start-up function of a route failed.
        """
        if self._thread is not None:
            raise ServerError(f"The server at {self.url} was already started. Create a new Server.")
        bound = self.bind()
        server = uvicorn.Server(
            uvicorn.Config(
                self.api,
                access_log=self._access_log,
                log_config=None,
                proxy_headers=False,
                server_header=False,
                date_header=False,
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        self._server = server
        self._thread = threading.Thread(
            target=self._run, args=(server, bound), name=f"brookmere-http-{self.port}", daemon=True
        )
        self._thread.start()
        deadline = time.monotonic() + _START_SECONDS
        while not server.started and self._thread.is_alive() and time.monotonic() < deadline:
            time.sleep(_LOOK_SECONDS)
        if not server.started:
            self.stop()
            raise ServerError(
                f"The server at {self.url} did not start. See its log; "
                "a start-up function of your own routes may have failed."
            )
        _log.info("serving at %s", self.url)
        return self

    def stop(self) -> None:
        """End all streams of updates, finish running requests and stop; a second call does nothing."""
        server, thread = self._server, self._thread
        if server is None or thread is None:
            return
        streams_of(self.api).close()
        server.should_exit = True
        if thread is not threading.current_thread():
            thread.join()
        while self._on_stop:
            self._on_stop.pop().__exit__(None, None, None)

    def closes(self, held: contextlib.AbstractContextManager[object]) -> Self:
        """Close `held` when this server stops."""
        self._on_stop.append(held)
        return self

    def wait(self, timeout: Duration | None = None) -> bool:
        """Wait until the server has stopped; False if it did not within `timeout`."""
        if self._thread is not None:
            self._thread.join(None if timeout is None else to_seconds(timeout))
        return not self.is_running

    def __enter__(self) -> Self:
        return self if self.is_running else self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Server({self.url!r}, {'running' if self.is_running else 'not running'})"

    def _run(self, server: uvicorn.Server, bound: socket.socket) -> None:
        try:
            server.run(sockets=[bound])
        except (Exception, SystemExit):  # noqa: BLE001 - nobody waits for this thread
            _log.exception("the server at %s failed", self.url)
        finally:
            bound.close()

    def _unbound(self, error: OSError) -> ServerError:
        return ServerError(
            f"The server cannot listen at {self.address}. Found: {error.strerror or error}. "
            "Free the port, or pass another address; port 0 takes a free one."
        )
