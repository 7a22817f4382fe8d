"""Why a benchmark ends without a table."""

from __future__ import annotations


class WrongResultError(Exception):
    """What was measured did not give the right results."""


class QueryFailedError(Exception):
    """A query ended, or hung, before it was measured."""
