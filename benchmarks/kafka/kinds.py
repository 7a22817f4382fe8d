"""The names of the programs and contestants, and the sizes of windows."""

from __future__ import annotations

from typing import Literal

Kind = Literal["projection", "words", "keys", "join", "windows"]

KINDS: tuple[Kind, ...] = ("projection", "words", "keys", "join", "windows")
RIVALS = ("streams-eos", "brookmere", "streams-alo", "pyspark")
"""Who runs them."""
WINDOW_MS = 10_000
GRACE_MS = 10_000
