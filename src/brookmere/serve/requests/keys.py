"""Keys in URLs."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.convertors import Convertor, register_url_convertor

from brookmere.serde import Serde
from brookmere.serve.answers.problems import Problem
from brookmere.state.description import key_text as texts


class _Whole(Convertor[str]):
    """The rest of a path including line breaks, where the framework's own `path` would cut the key off."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("whole", _Whole())


def key_from_text(serde: Serde, text: str) -> Any:
    """Return the key, or raise a Problem that says what was expected."""
    try:
        return texts.key_from_text(serde, text)
    except ValueError as error:
        raise _unfit(serde, error) from None


def prefix_from_text(serde: Serde, text: str) -> str | bytes:
    """Return the prefix of serialised keys, or raise a Problem that says what was expected."""
    try:
        return serde.prefix_from_text(text)
    except ValueError as error:
        raise _unfit(serde, error) from None


def check_path(path: str, raw_path: bytes | None) -> None:
    """Refuse a path that is not valid UTF-8.

    The server replaces invalid bytes by U+FFFD, which would be a different key.
    """
    if "\ufffd" in path and raw_path is not None:
        try:
            unquote_to_bytes(raw_path).decode("utf-8")
        except UnicodeDecodeError as error:
            raise Problem(422, "invalid-key", f"The path is not valid UTF-8: {error.reason}.") from None


def _unfit(serde: Serde, error: ValueError) -> Problem:
    words = str(error)
    detail = f"{words[:1].upper()}{words[1:]}."
    return Problem(422, "invalid-key", detail, {"expected": serde.key_text})
