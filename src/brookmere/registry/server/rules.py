"""The routes for compatibility levels, modes and compatibility checks."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from brookmere.registry.server import refusals
from brookmere.registry.server.requests import Request, version_of


def level(request: Request) -> dict[str, str]:
    """Return a compatibility level."""
    subject = _asked(request, request.catalog.state.levels, refusals.no_subject_level)
    return {"compatibilityLevel": request.catalog.level(subject)}


def set_level(request: Request) -> dict[str, str]:
    """Set a compatibility level."""
    fields = request.body()
    others = sorted(word for word, given in fields.items() if given is not None and word != "compatibility")
    if others:
        raise refusals.unreadable(f"This registry supports only 'compatibility', not {', '.join(others)}")
    level = str(fields.get("compatibility", "")).upper()
    request.catalog.set_level(request.subject, level)
    return {"compatibility": level}


def delete_level(request: Request) -> dict[str, str]:
    """Delete a compatibility level."""
    subject = _own(request, request.catalog.state.levels, refusals.unknown_subject)
    level = request.catalog.level(subject)
    request.catalog.set_level(subject, None)
    return {"compatibilityLevel": level}


def mode(request: Request) -> dict[str, str]:
    """Return a mode."""
    subject = _asked(request, request.catalog.state.modes, refusals.no_subject_mode)
    return {"mode": request.catalog.mode(subject)}


def set_mode(request: Request) -> dict[str, str]:
    """Set a mode."""
    mode = str(request.body().get("mode", "")).upper()
    request.catalog.set_mode(request.subject, mode, force=request.flag("force"))
    return {"mode": mode}


def delete_mode(request: Request) -> dict[str, str]:
    """Delete a mode."""
    subject = _own(request, request.catalog.state.modes, refusals.unknown_subject)
    mode = request.catalog.mode(subject)
    request.catalog.set_mode(subject, None)
    return {"mode": mode}


def compatibility(request: Request) -> dict[str, Any]:
    """Check whether a schema is compatible."""
    subject, *rest = request.parts
    schema, _ = request.schema()
    catalog = request.catalog
    if not rest:
        entries = catalog.compared(subject)
    else:
        version = version_of(rest[0])
        if version is None and not catalog.state.versions(subject):
            entries = []
        else:
            entries = [catalog.entry(subject, version)]
    reasons = catalog.reasons(subject, schema, entries)
    verbose = {"messages": reasons} if request.flag("verbose") else {}
    return {"is_compatible": not reasons, **verbose}


def _asked(
    request: Request, owners: Container[str | None], refusal: Callable[[str], refusals.Refusal]
) -> str | None:
    """Return the subject of a request, even one without settings of its own if the request allows that."""
    return request.subject if request.flag("defaultToGlobal") else _own(request, owners, refusal)


def _own(
    request: Request, owners: Container[str | None], refusal: Callable[[str], refusals.Refusal]
) -> str | None:
    """Return the subject of a request, or None for all; refuse one without its own settings."""
    subject = request.subject
    if subject is not None and subject not in owners:
        raise refusal(subject)
    return subject
