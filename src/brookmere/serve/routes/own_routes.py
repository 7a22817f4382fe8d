"""Adds an application's own routes to the API, and refuses those that would hide others."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, FastAPI

from brookmere.errors import ConfigError

BUILT_IN = (
    "stores",
    "updates",
    "topology",
    "status",
    "health",
    "ready",
    "metrics",
    "metadata",
    "openapi.json",
    "docs",
)
"""The first parts of the paths that are answered already."""


def add_routes(api: FastAPI, routes: Sequence[APIRouter]) -> None:
    """Add routers, behind the built-in routes.

    Raises:
        ConfigError: something is no router, or has a path that is answered already.
    """
    check_routes(routes)
    for router in routes:
        api.include_router(router)


def check_routes(routes: Sequence[APIRouter]) -> None:
    """Refuse what cannot be added.

    Raises:
        ConfigError: something is no router, or has a path that is answered already.
    """
    for router in routes:
        given: object = router
        if not isinstance(given, APIRouter):
            raise ConfigError(
                f"Own routes are a fastapi.APIRouter: found {type(given).__name__}. "
                "Write routes = APIRouter(), and @routes.get(...) before your functions."
            )
        for route in router.routes:
            _check(str(getattr(route, "path", "/")))


def _check(path: str) -> None:
    first = path.strip("/").partition("/")[0]
    if first in BUILT_IN:
        raise ConfigError(
            f"The own route {path} has a path that is answered already: /{first} and all behind it. "
            f"Choose another path, such as /my{path}."
        )
