"""Serves the stores of an application over HTTP, and the application's own routes beside them."""

from __future__ import annotations

from brookmere.serve.api import create_api
from brookmere.serve.dependencies import Stores
from brookmere.serve.server import Server

__all__ = ["Server", "Stores", "create_api"]
