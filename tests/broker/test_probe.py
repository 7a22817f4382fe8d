"""A few bytes are enough to find out whether a broker is ready."""

from __future__ import annotations

import socket
import threading

from brookmere.broker import Broker
from brookmere.broker.ports import free_port, is_free
from brookmere.broker.probe import brokers_seen_by


def test_probe_finds_a_running_broker(kafka: Broker) -> None:
    assert brokers_seen_by(kafka.nodes[0].port) == {1}


def test_probe_finds_nothing_where_nothing_listens() -> None:
    assert brokers_seen_by(free_port()) == set()


def test_server_that_hangs_up_or_sends_garbage_is_not_a_broker() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            for content in (b"", b"\0\0\0\5HTTP/"):
                connection, _ = server.accept()
                with connection:
                    connection.recv(100)
                    connection.sendall(content)

        thread = threading.Thread(target=answer)
        thread.start()
        port = server.getsockname()[1]

        assert brokers_seen_by(port) == set()
        assert brokers_seen_by(port) == set()
        thread.join()
        assert not is_free(port)
