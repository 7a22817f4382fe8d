"""The HTTP server of a registry, on loopback."""

from __future__ import annotations

import base64
import hmac
import json
import logging
import socket
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from brookmere.errors import RegistryError
from brookmere.registry.server.catalog import Catalog
from brookmere.registry.server.journal import Journal
from brookmere.registry.server.rest import CONTENT_TYPE, answer

log = logging.getLogger(__name__)

DEFAULT_PORT = 8081
_LOOPBACK = "127.0.0.1"
_LARGEST_BODY = 16 * 1024 * 1024
_CONTENT_TYPES = (CONTENT_TYPE, "application/vnd.schemaregistry+json", "application/json")


class RegistryServer:
    """Run a registry on loopback, in a thread of this process.

    Without a directory it forgets everything when it stops. Port 0 picks a free port, shown in `url`.

    >>> from brookmere.registry import RegistryClient
    >>> with RegistryServer(port=0) as server:
    ...     RegistryClient(server.url).register("orders-value", '"string"')
    1
    """

    def __init__(
        self,
        directory: str | Path | None = None,
        *,
        port: int = DEFAULT_PORT,
        basic_auth: tuple[str, str] | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._journal = None if directory is None else Journal(Path(directory))
        self.catalog = (
            Catalog() if self._journal is None else Catalog(self._journal.state, self._journal.append)
        )
        try:
            self._server = _Server((_LOOPBACK, port), _Handler)
        except OSError as failure:
            if self._journal is not None:
                self._journal.close()
            raise RegistryError(
                f"The schema registry cannot listen on port {port} of {_LOOPBACK}. "
                f"Found: {failure.strerror}. "
                "Stop the program that uses this port, or choose another one with --port."
            ) from failure
        self._server.catalog = self.catalog
        self._server.token = None if basic_auth is None else _token(basic_auth)
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port: int = self._server.server_address[1]
        self.url = f"{'http' if tls is None else 'https'}://{'localhost' if tls else _LOOPBACK}:{self.port}"
        self._thread: threading.Thread | None = None

    def start(self) -> RegistryServer:
        """Start answering, in its own thread."""
        self._thread = threading.Thread(target=self.serve, name="brookmere-registry", daemon=True)
        self._thread.start()
        return self

    def serve(self) -> None:
        """Answer until `stop` is called in another thread."""
        self._server.serve_forever(poll_interval=0.05)

    def stop(self) -> None:
        """Stop answering; every acknowledged change is on disk."""
        self._server.shutdown()
        if self._thread is not None:
            self._thread.join()
        self.close()

    def close(self) -> None:
        """Release the port and the directory, once serving has stopped."""
        self._server.server_close()
        self._server.hang_up()
        # A request in progress holds the lock until its change is written.
        with self.catalog.lock:
            if self._journal is not None:
                self._journal.close()
                self._journal = None

    def __enter__(self) -> RegistryServer:
        return self.start()

    def __exit__(self, *failure: object) -> None:
        self.stop()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    catalog: Catalog
    token: str | None = None

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._connections: set[socket.socket] = set()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        super().shutdown_request(request)

    def hang_up(self) -> None:
        """Close the connections that clients keep open."""
        for connection in list(self._connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError as gone:
                log.debug("a connection was already closed: %s", gone)

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ARG002
        log.debug("a connection of %s ended early", client_address, exc_info=True)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "brookmere-registry"
    timeout = 60
    # Send the headers and body of an answer together.
    wbufsize = -1
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def do_DELETE(self) -> None:
        self._answer()

    def _answer(self) -> None:
        refusal, data = self._read()
        if refusal is None:
            refusal = self._unauthorised()
        if refusal is not None:
            self._send(refusal, {"error_code": refusal, "message": _MESSAGES[refusal]})
            return
        try:
            status, content = answer(self.server.catalog, self.command, self.path, data)
        except RegistryError as failure:
            status, content = 500, {"error_code": 50001, "message": str(failure)}
        except Exception as failure:
            log.exception("%s %s failed", self.command, self.path)
            status, content = 500, {"error_code": 500, "message": f"{type(failure).__name__}: {failure}"}
        self._send(status, content)

    def _read(self) -> tuple[int | None, bytes]:
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not length.isdecimal():
            self.close_connection = True
            return 411, b""
        if int(length) > _LARGEST_BODY:
            self.close_connection = True
            return 413, b""
        data = self.rfile.read(int(length))
        # A browser page can send other content types to loopback without a preflight request.
        if data and self.headers.get_content_type() not in _CONTENT_TYPES:
            return 415, data
        return None, data

    def _unauthorised(self) -> int | None:
        if self.server.token is None:
            return None
        given = self.headers.get("Authorization", "")
        return None if hmac.compare_digest(given.encode(), self.server.token.encode()) else 401

    def _send(self, status: int, content: Any) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(data)))
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="brookmere-registry"')
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        log.info("%s %s", self.address_string(), format % args)


_MESSAGES = {
    401: "Unauthorized",
    411: "A request needs a Content-Length",
    413: f"A request has at most {_LARGEST_BODY} bytes",
    415: f"HTTP 415 Unsupported Media Type: send {CONTENT_TYPE}",
}


def _token(basic_auth: tuple[str, str]) -> str:
    return f"Basic {base64.b64encode(':'.join(basic_auth).encode()).decode()}"
