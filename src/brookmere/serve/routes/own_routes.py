"""Adds the application's own routes to the API, and refuses those that would shadow built-in ones."""

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
"""The first parts of the built-in paths."""


def add_routes(api: FastAPI, routes: Sequence[APIRouter]) -> None:
    """Add routers after the built-in routes.

    Raises:
        ConfigError: an object is not a router, or one of its paths is already taken.
    """
    check_routes(routes)
    for router in routes:
        api.include_router(router)


def check_routes(routes: Sequence[APIRouter]) -> None:
    """Refuse routers that cannot be added.

    Raises:
        ConfigError: an object is not a router, or one of its paths is already taken.
    """
    for router in routes:
        given: object = router
        if not isinstance(given, APIRouter):
            raise ConfigError(
                f"Routes must be a fastapi.APIRouter, found {type(given).__name__}. "
                "Write routes = APIRouter(), and @routes.get(...) above your functions."
            )
        for route in router.routes:
            _check(str(getattr(route, "path", "/")))


def _check(path: str) -> None:
    first = path.strip("/").partition("/")[0]
    if first in BUILT_IN:
        raise ConfigError(
            f"The path of the route {path} is already taken: /{first} and everything below it is built in. "
            f"Choose another path, such as /my{path}."
        )
