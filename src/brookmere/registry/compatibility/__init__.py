"""Compatibility of schemas: can data written with one be read with another?"""

from __future__ import annotations

from brookmere.registry.compatibility.levels import LEVELS, against, reasons_against

__all__ = ["LEVELS", "against", "reasons_against"]
