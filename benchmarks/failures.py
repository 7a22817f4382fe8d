"""Why a benchmark ends without a table."""

from __future__ import annotations


class WrongResultError(Exception):
    """A measured query or process produced wrong results."""


class QueryFailedError(Exception):
    """A query ended, or hung, before it was measured."""
