"""Parses number ranges and option lists of a .proto file."""

from __future__ import annotations

from typing import Any

from brookmere.registry.schemas.proto.fields import LARGEST_NUMBER
from brookmere.registry.schemas.proto.options import option_name, set_option
from brookmere.registry.schemas.proto.tokens import Tokens

_LARGEST_ENUM = 2**31 - 1


def reserved(tokens: Tokens, holder: Any, *, end_counts: bool) -> None:
    """Read a reserved statement, after the keyword; only in enums is the end of a range inclusive."""
    while True:
        if tokens.next.kind == "string":
            holder.reserved_name.append(tokens.text_string())
        elif tokens.next.kind == "word":
            holder.reserved_name.append(tokens.word())
        else:
            start, end = number_range(tokens, _LARGEST_ENUM if end_counts else LARGEST_NUMBER)
            holder.reserved_range.add(start=start, end=end if end_counts else end + 1)
        if not tokens.accept(","):
            break
    tokens.expect(";")


def number_range(tokens: Tokens, largest: int) -> tuple[int, int]:
    """Read a number, or two separated by `to`; the range is inclusive."""
    start = tokens.integer()
    if not tokens.accept("to"):
        return start, start
    return start, largest if tokens.accept("max") else tokens.integer()


def options_in_brackets(tokens: Tokens, options: Any) -> None:
    """Read options separated by commas, if there are any."""
    if not tokens.accept("["):
        return
    while True:
        name = option_name(tokens)
        tokens.expect("=")
        set_option(tokens, options, name)
        if not tokens.accept(","):
            break
    tokens.expect("]")
