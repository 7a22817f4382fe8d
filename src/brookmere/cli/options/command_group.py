"""Turns a sentence into a group of commands that shows its help the way all of Brookmere does."""

from __future__ import annotations

from typing import Any

import typer


def group(purpose: str, **options: Any) -> typer.Typer:
    """Return a group that has no commands yet; `options` are more of typer's."""
    return typer.Typer(
        help=purpose,
        no_args_is_help=True,
        # Plain help keeps its paragraphs and examples as they are, and reads well in any width.
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        **options,
    )
