"""The state of a registry, built from events: schemas, versions of subjects, levels and modes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from brookmere.registry.schemas.schema import Schema, schema_from_json, schema_to_json

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """One version of a subject."""

    subject: str
    version: int
    id: int
    deleted: bool = False


class State:
    """The contents of a registry. Only events change it, so the same events give the same state."""

    def __init__(self) -> None:
        self.schemas: dict[int, Schema] = {}
        self.ids: dict[Schema, int] = {}
        self.entries: dict[str, dict[int, Entry]] = {}
        self.levels: dict[str | None, str] = {}
        self.modes: dict[str | None, str] = {}

    def apply(self, event: Event) -> None:
        """Apply one event."""
        kind, subject = event["event"], event["subject"]
        if kind == "registered":
            schema = schema_from_json(event)
            self.schemas[event["id"]] = schema
            self.ids.setdefault(schema, event["id"])
            entry = Entry(subject, event["version"], event["id"])
            self.entries.setdefault(subject, {})[entry.version] = entry
        elif kind == "deleted":
            versions = self.entries[subject]
            versions.update({number: replace(versions[number], deleted=True) for number in event["versions"]})
        elif kind == "forgotten":
            for number in event["versions"]:
                del self.entries[subject][number]
            if not self.entries[subject]:
                del self.entries[subject]
        elif kind == "level":
            _set(self.levels, subject, event["level"])
        elif kind == "mode":
            _set(self.modes, subject, event["mode"])
        else:
            raise ValueError(f"an event of an unknown kind: {kind!r}")

    def versions(self, subject: str, *, deleted: bool = False) -> list[Entry]:
        """Return the versions of a subject in order, on request including deleted ones."""
        entries = self.entries.get(subject, {})
        return [entry for _, entry in sorted(entries.items()) if deleted or not entry.deleted]

    def using(self, id: int, *, deleted: bool = False) -> list[Entry]:
        """Return the versions that have a schema."""
        return [
            entry
            for subject in sorted(self.entries)
            for entry in self.versions(subject, deleted=deleted)
            if entry.id == id
        ]

    def referring_to(self, subject: str, version: int) -> list[int]:
        """Return the ids of the schemas in use that refer to a version."""
        return sorted(
            id
            for id, schema in self.schemas.items()
            if any((one.subject, one.version) == (subject, version) for one in schema.references)
            and self.using(id)
        )


def registered(entry: Entry, schema: Schema) -> Event:
    """The event of a new version."""
    return {
        "event": "registered",
        "subject": entry.subject,
        "version": entry.version,
        "id": entry.id,
        **schema_to_json(schema),
    }


def deleted(subject: str, versions: Iterable[int]) -> Event:
    """The event of soft-deleted versions."""
    return {"event": "deleted", "subject": subject, "versions": list(versions)}


def forgotten(subject: str, versions: Iterable[int]) -> Event:
    """The event of permanently deleted versions."""
    return {"event": "forgotten", "subject": subject, "versions": list(versions)}


def level_set(subject: str | None, level: str | None) -> Event:
    """The event of a changed compatibility level; None removes it."""
    return {"event": "level", "subject": subject, "level": level}


def mode_set(subject: str | None, mode: str | None) -> Event:
    """The event of a changed mode; None removes it."""
    return {"event": "mode", "subject": subject, "mode": mode}


def _set(settings: dict[str | None, str], subject: str | None, value: str | None) -> None:
    if value is None:
        settings.pop(subject, None)
    else:
        settings[subject] = value
