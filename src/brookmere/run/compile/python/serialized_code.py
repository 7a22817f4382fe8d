"""Serialises the code of a stage so that a worker can load it, whatever modules it can import."""

from __future__ import annotations

import functools
import io
import pickle
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import cloudpickle

from brookmere.worker.functions import caches

_PACKAGE = "brookmere"
_OF_PYTHON = {
    str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "platstdlib", "purelib", "platlib")
}


class Unpicklable(ValueError):  # noqa: N818 - it becomes a fault of the program
    """Code that cannot be sent to a worker; the message is the reason."""


def dumps(code: object) -> bytes:
    """Return `code` as bytes, with what it uses of the user's own modules.

    Modules that are installed are imported by the worker. The user's own travel with the code: a program may
    be a file that no import finds, and a worker that is started later must not see a newer version of it.

    Raises:
        Unpicklable: something in it cannot be sent.
    """
    with _by_value(list(_own_modules())):
        try:
            data = io.BytesIO()
            _Pickler(data).dump(code)
            return data.getvalue()
        except (pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError) as error:
            raise Unpicklable(str(error) or type(error).__name__) from error


class _Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
    """Takes caches of functions apart, which would travel as a name or not at all, and no open file."""

    def reducer_override(self, obj: Any) -> Any:
        """Return how an object is made again; called by pickle for every object that it has no way for."""
        if isinstance(obj, functools._lru_cache_wrapper) and _is_own(obj):
            parameters = tuple(obj.cache_parameters().values())
            return caches.empty_cache, parameters, obj.__wrapped__, None, None, caches.fill
        if type(obj) is functools.cached_property:
            return caches.lazy_property, (obj.func, obj.attrname)
        if isinstance(obj, io.TextIOWrapper) and obj not in (sys.stdout, sys.stderr):
            # CloudPickler would send what is in the file now.
            raise pickle.PicklingError(f"cannot pickle the open file {obj.name!r}")
        return super().reducer_override(obj)


def _is_own(function: Any) -> bool:
    """Say whether a function is one of the program's own, which no import would find in a worker."""
    own = ("__main__", *cloudpickle.list_registry_pickle_by_value())
    return function.__module__ in own or "<locals>" in function.__qualname__


def _own_modules() -> Iterator[ModuleType]:
    """Yield the modules that come with the program, not with an installed package."""
    places = _places_of_packages()
    for name, module in sys.modules.copy().items():
        file = getattr(module, "__file__", None)
        if not isinstance(module, ModuleType) or file is None or name.partition(".")[0] == _PACKAGE:
            continue
        # Compiled modules have no code that could travel.
        if file.endswith(".py") and name == module.__name__ and not _is_installed(file, places):
            yield module


def _places_of_packages() -> tuple[str, ...]:
    """Return the directories that packages are installed in, those that only the environment names, too."""
    named = (Path(place).resolve() for place in sys.path)
    return (*_OF_PYTHON, *(str(place) for place in named if next(place.glob("*.dist-info"), None)))


def _is_installed(file: str, places: tuple[str, ...]) -> bool:
    place = str(Path(file).resolve())
    return "site-packages" in place or "dist-packages" in place or place.startswith(places)


@contextmanager
def _by_value(modules: list[ModuleType]) -> Iterator[None]:
    already = cloudpickle.list_registry_pickle_by_value()
    mine = [module for module in modules if module.__name__ not in already]
    for module in mine:
        cloudpickle.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in mine:
            cloudpickle.unregister_pickle_by_value(module)
