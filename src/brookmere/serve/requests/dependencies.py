"""Injects the stores into the application's own routes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import Depends
from starlette.requests import HTTPConnection

from brookmere.state import AnyStore


def _stores(connection: HTTPConnection) -> Mapping[str, AnyStore]:
    stores: Mapping[str, AnyStore] = connection.app.state.stores
    return stores


Stores = Annotated[Mapping[str, AnyStore], Depends(_stores)]
"""Annotate a parameter of a route with this to receive the stores, by name."""
