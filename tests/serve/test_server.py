"""A server starts where it should or says why not, and stops."""

from __future__ import annotations

import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import FastAPI

from brookmere.errors import ConfigError, ServerError
from brookmere.serve import Server
from brookmere.serve.addresses import parse_address, shown_address


def hello() -> FastAPI:
    api = FastAPI()

    @api.get("/")
    async def root() -> str:
        return "hello"

    return api


def test_port_0_takes_a_free_port() -> None:
    with Server(hello(), port=0) as server:
        assert httpx.get(server.url).json() == "hello"
        assert server.port > 0
        assert server.url == f"http://127.0.0.1:{server.port}"
        assert server.is_running

    assert not server.is_running
    with pytest.raises(httpx.ConnectError):
        httpx.get(server.url)


def test_a_port_in_use_is_told() -> None:
    with (
        Server(hello(), port=0) as server,
        pytest.raises(ServerError, match=f"cannot listen at 127.0.0.1:{server.port}. Found: Address already"),
    ):
        Server(hello(), port=server.port).start()


def test_an_unknown_host_is_told() -> None:
    with pytest.raises(ServerError, match=r"cannot listen at nowhere\.invalid:0"):
        Server(hello(), "nowhere.invalid", 0).start()


def test_a_port_is_free_again_after_a_stop() -> None:
    server = Server(hello(), port=0).start()
    httpx.get(server.url)
    server.stop()
    server.stop()

    with Server(hello(), port=server.port) as again:
        assert httpx.get(again.url).status_code == 200


def test_a_server_starts_once() -> None:
    with Server(hello(), port=0) as server, pytest.raises(ServerError, match="was already started"):
        server.start()


def test_a_start_up_that_fails_is_told() -> None:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        raise RuntimeError("no database")
        yield

    with pytest.raises(ServerError, match="did not start"):
        Server(FastAPI(lifespan=lifespan), port=0).start()


def test_handlers_of_signals_are_left_alone() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    with Server(hello(), port=0):
        assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_an_idle_connection_does_not_hold_up_a_stop() -> None:
    server = Server(hello(), port=0).start()
    with socket.create_connection((server.host, server.port)) as idle:
        idle.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert idle.recv(4096).startswith(b"HTTP/1.1 200")

        server.stop()

    assert not server.is_running


@pytest.mark.parametrize(
    ("address", "expected"),
    [("127.0.0.1:7000", ("127.0.0.1", 7000)), ("localhost:0", ("localhost", 0)), ("[::1]:80", ("::1", 80))],
)
def test_an_address_has_a_host_and_a_port(address: str, expected: tuple[str, int]) -> None:
    assert parse_address(address) == expected
    assert shown_address(*expected) == address


@pytest.mark.parametrize("address", ["", "7000", ":7000", "host", "host:", "host:x", "host:65536", "::1:80"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match="is not an address to listen on"):
        parse_address(address)
