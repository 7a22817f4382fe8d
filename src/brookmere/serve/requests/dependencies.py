"""Gives routes of an application's own the stores that they ask."""

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
"""The annotation of a route's parameter that gets the stores, by name."""
