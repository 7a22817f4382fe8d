"""Reads files of Java properties, with the line of each value."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from brookmere.errors import ConfigError

_SPACE = " \t\f"
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def read_properties(file: Path) -> dict[str, tuple[str, int]]:
    """Return the values of a file with their line numbers.

    A line that ends in `\\` continues on the next one, `#` and `!` start comments, `=`, `:` or white space
    end a name. If a name occurs twice, its last value counts.
    """
    try:
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            f"The settings in {file} cannot be read: {error.strerror}. "
            "Name a properties file, with lines like commit.interval.ms=100."
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"The settings in {file} cannot be read: byte {error.start} is not UTF-8. "
            "Save the file as UTF-8 text."
        ) from error
    found: dict[str, tuple[str, int]] = {}
    for number, line in _logical_lines(text):
        name, value = _split(line)
        found[_unescaped(name)] = (_unescaped(value), number)
    return found


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield lines with content, with continued lines joined, and the number of their first line."""
    whole, first = "", 0
    for number, raw in enumerate(re.split(r"\r\n|\r|\n", text), start=1):
        line = raw.lstrip(_SPACE)
        if not whole and (not line or line[0] in "#!"):
            continue
        first = first or number
        if (len(line) - len(line.rstrip("\\"))) % 2:
            whole += line[:-1]
            continue
        yield first, whole + line
        whole, first = "", 0
    if whole:
        yield first, whole


def _split(line: str) -> tuple[str, str]:
    position = 0
    while position < len(line) and line[position] not in f"=:{_SPACE}":
        position += 2 if line[position] == "\\" else 1
    name, rest = line[:position], line[position:].lstrip(_SPACE)
    return name, rest[1:].lstrip(_SPACE) if rest[:1] in ("=", ":") else rest


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: _letter(found[1]), text)


def _letter(escaped: str) -> str:
    return chr(int(escaped[1:], 16)) if len(escaped) > 1 else _LETTERS.get(escaped, escaped)
