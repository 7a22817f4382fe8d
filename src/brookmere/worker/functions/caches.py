"""Restores functions with `functools` caches in a worker. The caches start empty."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class _Later:
    """A function that is set later: one that calls itself is needed before it exists."""

    def __call__(self, *values: Any, **named: Any) -> Any:
        return self.function(*values, **named)

    function: Callable[..., Any]


def empty_cache(maxsize: int | None, typed: bool) -> Any:
    """Return a function with a cache, like that of `lru_cache`, which has to be filled."""
    return functools.lru_cache(maxsize=maxsize, typed=typed)(_Later())


def fill(cache: Any, function: Callable[..., Any]) -> None:
    """Set the function of a cache."""
    cache.__wrapped__.function = function
    functools.update_wrapper(cache, function)


def lazy_property(function: Callable[..., Any], name: str | None) -> Any:
    """Return the property of a class that computes its value once."""
    made = functools.cached_property(function)
    made.attrname = name
    return made
