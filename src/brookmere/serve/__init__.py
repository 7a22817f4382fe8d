"""The HTTP API: serves the stores of an application, and the application's own routes."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from brookmere.serve.api import create_api
from brookmere.serve.requests.dependencies import Stores
from brookmere.serve.server import Server
from brookmere.serve.start import serve, serve_replica

__all__ = ["Server", "Stores", "create_api", "serve", "serve_replica"]


class _Callable(ModuleType):
    """Makes `bm.serve(application)` work even after this package, which has the same name, was imported."""

    def __call__(self, *arguments: Any, **named: Any) -> Server:
        return serve(*arguments, **named)


sys.modules[__name__].__class__ = _Callable
