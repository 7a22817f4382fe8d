"""GET /metadata: which replicas there are and what they hold."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from brookmere.serde import partition_for
from brookmere.serde.json.any_json import json_of
from brookmere.serve.addresses import shown_address
from brookmere.serve.context import Served
from brookmere.serve.openapi import models
from brookmere.serve.openapi.problem_responses import problems
from brookmere.serve.requests.keys import check_path, key_from_text
from brookmere.serve.requests.parameters import Key, StoreName
from brookmere.state.replica.peers import Peer, stores_of

_JSON = "application/json"
_UNKNOWN_STORE = "There is no such store here."


def metadata_routes(served: Served) -> APIRouter:
    """Return the routes."""
    routes = APIRouter(tags=["replicas"])

    @routes.get(
        "/metadata",
        summary="The replicas of the application",
        response_class=Response,
        responses={200: {"model": models.Replicas}},
    )
    def replicas(request: Request) -> Response:
        return _answer(served, _peers(served, request))

    @routes.get(
        "/metadata/{name}",
        summary="The replicas that have a store",
        response_class=Response,
        responses={200: {"model": models.Replicas}, **problems(no_such_store=_UNKNOWN_STORE)},
    )
    def replicas_of_store(name: StoreName, request: Request) -> Response:
        peers = [peer for peer in _peers(served, request) if peer.store(name)]
        if not peers:
            served.replica[name]
        return _answer(served, peers)

    @routes.get(
        "/metadata/{name}/{key:whole}",
        summary="The replicas that have a key",
        response_class=Response,
        responses={
            200: {"model": models.KeyPlace},
            **problems(no_such_store=_UNKNOWN_STORE, invalid_key="The key is not of the store's type."),
        },
    )
    def place_of_key(name: StoreName, key: Key, request: Request) -> Response:
        check_path(request.scope["path"], request.scope.get("raw_path"))
        info = served.replica[name].info
        found = key_from_text(info.key, key)
        peers = [peer for peer in _peers(served, request) if peer.store(name)]
        partition = None
        if not info.is_global:
            count = max((len(store.partitions) for peer in peers if (store := peer.store(name))), default=0)
            partition = partition_for(info.key.serialize(found) or b"", count) if count else None
            peers = [peer for peer in peers if (store := peer.store(name)) and partition in store.partitions]
        place = {"store": name, "key": found, "partition": partition, "replicas": _shown(served, peers)}
        return Response(json_of(place), media_type=_JSON)

    return routes


def _peers(served: Served, request: Request) -> list[Peer]:
    if served.peers is not None:
        return served.peers.all()
    host, port = request.scope.get("server") or ("127.0.0.1", None)
    address = host if port is None else shown_address(host, port)
    return [Peer(served.replica.name, address, served.started_at, tuple(stores_of(served.replica)))]


def _answer(served: Served, peers: list[Peer]) -> Response:
    content = {"application": served.replica.application, "replicas": _shown(served, peers)}
    return Response(json_of(content), media_type=_JSON)


def _shown(served: Served, peers: list[Peer]) -> list[dict[str, Any]]:
    own = None if served.peers is None else served.peers.own.address
    return [{**asdict(peer), "is_self": own is None or peer.address == own} for peer in peers]
