"""Keys from text, as a URL or a command line has it, with an error that says what is expected."""

from __future__ import annotations

from typing import Any

from brookmere.serde import Serde

_SHOWN = 80


def key_from_text(serde: Serde, text: str) -> Any:
    """Return the key, or raise a ValueError that says what was expected.

    >>> from brookmere.serde import Bytes, Long
    >>> key_from_text(Bytes(), "0x00ff"), key_from_text(Long(), "17")
    (b'\\x00\\xff', 17)
    """
    try:
        key = serde.key_from_text(text)
        # The serde knows best which values are its own, such as the range of its numbers.
        if serde.serialize(key) is None:
            raise ValueError("nothing, but a row always has a key")
    except (TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"the key {text[:_SHOWN]!r} does not fit: expected {serde.key_text}, found {error}"
        ) from None
    return key
