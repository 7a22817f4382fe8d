"""The types of settings: how each parses what a user writes, and how it describes valid values."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Generic, TypeVar

from brookmere.durations import to_timedelta
from brookmere.names import illegal

T = TypeVar("T")

_WHOLE = re.compile(r"[+-]?\d+")


@dataclass(frozen=True, slots=True)
class Kind(Generic[T]):
    """A type of settings. `words` describe what it accepts; `parse` raises ValueError for anything else."""

    words: str
    parse: Callable[[object], T]


def whole(at_least: int, *, of: str = "") -> Kind[int]:
    """Return the kind of integers from `at_least` on, for example `of` bytes."""

    def parse(given: object) -> int:
        if isinstance(given, bool):
            raise ValueError
        number = int(given) if isinstance(given, str) and _WHOLE.fullmatch(given) else given
        if not isinstance(number, int) or number < at_least:
            raise ValueError
        return number

    return Kind(f"an integer{of and f' ({of})'}, at least {at_least}", parse)


def copies() -> Kind[int]:
    """Return the kind of replication factors: -1 leaves it to the broker."""

    def parse(given: object) -> int:
        return -1 if given in (-1, "-1") else whole(1).parse(given)

    return Kind("an integer, at least 1, or -1", parse)


def milliseconds() -> Kind[int]:
    """Return the kind of durations: milliseconds, as the names of such settings say, or with a unit."""
    number = whole(0, of="milliseconds")

    def parse(given: object) -> int:
        if isinstance(given, str) and not given.strip().isdecimal():
            try:
                given = to_timedelta(given)
            except ValueError:
                return number.parse(given)
        if not isinstance(given, timedelta):
            return number.parse(given)
        count, rest = divmod(given, timedelta(milliseconds=1))
        return number.parse(None if rest else count)

    return Kind(f'{number.words}, a timedelta, or a text such as "5s"', parse)


def flag() -> Kind[bool]:
    """Return the kind of booleans."""

    def parse(given: object) -> bool:
        if isinstance(given, bool):
            return given
        return {"true": True, "false": False}[_text(given).casefold()]

    return Kind("true or false", parse)


def one_of(
    *words: str, aliases: Mapping[str, str] | None = None, classes: Mapping[str, str] | None = None
) -> Kind[str]:
    """Return the kind of these words. Aliases and Java classes stand for one of them."""
    known = {**{word: word for word in words}, **(aliases or {}), **(classes or {})}

    def parse(given: object) -> str:
        # A Java class may be given by its full name.
        short = _text(given).rpartition(".")[2] if classes else _text(given)
        return {name.casefold(): word for name, word in known.items()}[short.casefold()]

    return Kind(_either(words), parse)


def some_of(*words: str) -> Kind[str]:
    """Return the kind of one or several of these words, in a list or separated by commas."""

    def parse(given: object) -> str:
        parts = given if isinstance(given, list | tuple) else _text(given).split(",")
        chosen = [_text(part) for part in parts]
        if not chosen or not set(chosen) <= set(words):
            raise ValueError
        return ",".join(chosen)

    return Kind(f"{_either(words)}, several separated by commas", parse)


def addresses() -> Kind[str]:
    """Return the kind of registry addresses; user and password have a setting of their own."""

    def parse(given: object) -> str:
        text = _text(given)
        if not text.startswith(("http://", "https://", "mock://", "${")) or "@" in text:
            raise ValueError
        return text

    return Kind("an address such as http://localhost:8081, several separated by commas", parse)


def text() -> Kind[str]:
    """Return the kind of any text."""
    return Kind("a text", _text)


def name() -> Kind[str]:
    """Return the kind of names that Kafka allows for topics and applications."""

    def parse(given: object) -> str:
        text = _text(given)
        if illegal(text) is not None:
            raise ValueError
        return text

    return Kind("a name of up to 249 letters, digits, '.', '_' and '-'", parse)


def names() -> Kind[tuple[str, ...]]:
    """Return the kind of several such names, in a list or separated by commas."""
    one = name()

    def parse(given: object) -> tuple[str, ...]:
        parts = given if isinstance(given, list | tuple) else _text(given).split(",")
        return tuple(one.parse(part) for part in parts)

    return Kind("names separated by commas", parse)


def directory() -> Kind[Path]:
    """Return the kind of directories; relative paths start at the working directory."""

    def parse(given: object) -> Path:
        text = os.fspath(given) if isinstance(given, os.PathLike) else given
        return Path(_text(text)).expanduser().absolute()

    return Kind("the path of a directory", parse)


def _text(given: object) -> str:
    if not isinstance(given, str) or not given.strip():
        raise ValueError
    return given.strip()


def _either(words: tuple[str, ...]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
