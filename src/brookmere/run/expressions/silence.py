"""Turns loggers off for as long as a block runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from logging import Logger


@contextmanager
def silenced(loggers: Sequence[Logger]) -> Iterator[None]:
    """Let these loggers say nothing inside; afterwards each is as it was."""
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled
