"""Turns a running application into a server of its stores."""

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
    """What a server has to know of an application."""

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
        """Return how it is."""


def serve(
    application: Servable,
    address: str = "127.0.0.1:7000",
    *,
    routes: Sequence[APIRouter] = (),
    token: str | None = None,
) -> Server:
    """Serve the stores of a running application over HTTP, and its own routes, until the server is stopped.

    Port 0 takes a free one. With a `token` requests need the header Authorization: Bearer TOKEN. Stop the
    server before the application, or use it in a `with` statement.

    Raises:
        StoreNotReadyError: the application does not run.
        ServerError: something else listens at the address.
        ConfigError: the address is none, or an own route has a path that is answered already.
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
    """Refuse an address before anything is started for it.

    Raises:
        ServerError: the host is unknown, or something else listens there.
        ConfigError: the address is none.
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
    """Serve a replica over HTTP, and tell the other replicas of its application where it is."""
    host, port = parse_address(address)
    peers = Peers(replica.application, topics, replica.name, lambda: stores_of(replica))
    api = create_api(replica, status=status, topology=topology, routes=routes, token=token, peers=peers)
    server = Server(api, host, port).start()
    # Others cannot reach an address that stands for all of this machine's.
    reachable = socket.gethostname() if host in ("0.0.0.0", "::") else host
    return server.closes(peers.start(shown_address(reachable, server.port)))
