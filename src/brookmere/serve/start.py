"""Starts servers: for a running application, or for a replica."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any, Protocol

from fastapi import APIRouter, FastAPI

from brookmere.config import Config
from brookmere.serve.addresses import parse_address, shown_address
from brookmere.serve.api import create_api
from brookmere.serve.context import StatusReader
from brookmere.serve.server import Server
from brookmere.state import Replica
from brookmere.state.replica.peers import Peers, stores_of
from brookmere.topics import AnyTopics, open_topics
from brookmere.topology.nodes import Topology


class Servable(Protocol):
    """What a server needs from an application."""

    @property
    def config(self) -> Config:
        """The settings."""

    @property
    def topology(self) -> Topology:
        """The program."""

    @property
    def stores(self) -> Replica:
        """The stores; the application must run."""

    def status(self) -> Any:
        """Return its status."""


def serve(
    application: Servable,
    address: str = "127.0.0.1:7000",
    *,
    routes: Sequence[APIRouter] = (),
    token: str | None = None,
) -> Server:
    """Serve the stores of a running application over HTTP, and its own routes, until the server is stopped.

    Port 0 takes a free port. With a `token`, requests need the header Authorization: Bearer TOKEN. Stop the
    server before the application, or use it in a `with` statement.

    Raises:
        StoreNotReadyError: the application is not running.
        ServerError: the port is already in use.
        ConfigError: the address is invalid, or a route has a path that is already taken.
    """
    return serve_replica(
        application.stores,
        open_topics(application.config),
        address,
        status=application.status,
        topology=application.topology,
        routes=routes,
        token=token,
    )


def check_address(address: str) -> None:
    """Fail fast if a server cannot listen on an address.

    Raises:
        ServerError: the host is unknown, or the port is already in use.
        ConfigError: the address is invalid.
    """
    host, port = parse_address(address)
    Server(FastAPI(), host, port).bind().close()


def serve_replica(
    replica: Replica,
    topics: AnyTopics,
    address: str,
    *,
    status: StatusReader | None = None,
    topology: Topology | None = None,
    routes: Sequence[APIRouter] = (),
    token: str | None = None,
) -> Server:
    """Serve a replica over HTTP, and announce its address to the other replicas of its application."""
    host, port = parse_address(address)
    peers = Peers(replica.application, topics, replica.name, lambda: stores_of(replica))
    api = create_api(replica, status=status, topology=topology, routes=routes, token=token, peers=peers)
    server = Server(api, host, port).start()
    # Others cannot connect to a wildcard address.
    reachable = socket.gethostname() if host in ("0.0.0.0", "::") else host
    return server.closes(peers.start(shown_address(reachable, server.port)))
