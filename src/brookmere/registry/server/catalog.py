"""The registry itself, without HTTP: registers, finds and deletes schemas, and enforces the rules."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from brookmere.registry.compatibility import LEVELS, against, reasons_against
from brookmere.registry.schemas.formats import InvalidSchemaError, Parsed, parse
from brookmere.registry.schemas.schema import TYPES, Schema
from brookmere.registry.server import refusals
from brookmere.registry.server import subjects as state
from brookmere.registry.server.subjects import Entry, Event, State

DEFAULT_LEVEL = "BACKWARD"
MODES = ("READWRITE", "READONLY", "READONLY_OVERRIDE", "IMPORT")
DEFAULT_MODE = "READWRITE"
LARGEST_VERSION = 2**31 - 1


class Catalog:
    """A registry without its REST interface. `record` makes each event durable before it is applied."""

    def __init__(self, held: State | None = None, record: Callable[[Event], None] | None = None) -> None:
        self.state = held or State()
        self._record = record
        self.lock = threading.RLock()

    def register(
        self,
        subject: str,
        schema: Schema,
        *,
        normalize: bool = False,
        id: int | None = None,
        version: int | None = None,
    ) -> Entry:
        """Add a schema to a subject unless it is already registered, and return its version."""
        with self.lock:
            mode = self.mode(subject)
            if mode.startswith("READONLY"):
                raise refusals.not_permitted(f"Subject {subject} is in read-only mode")
            parsed = self.parsed(schema)
            canonical = self._canonical(schema, parsed, normalize)
            known = self._find(subject, canonical, deleted=False)
            if known is not None and id in (None, known.id) and version in (None, known.version):
                return known
            if id is not None and mode != "IMPORT":
                raise refusals.not_permitted(f"Subject {subject} is not in import mode")
            if mode != "IMPORT":
                self._check_compatibility(subject, parsed)
            entry = self._entry(subject, canonical, id, version)
            self._change(state.registered(entry, canonical))
            return entry

    def find(self, subject: str, schema: Schema, *, normalize: bool = False, deleted: bool = False) -> Entry:
        """Return the version of a subject that has this schema."""
        with self.lock:
            self._known(subject, deleted=deleted)
            canonical = self._canonical(schema, self.parsed(schema), normalize)
            entry = self._find(subject, canonical, deleted=deleted)
            if entry is None:
                raise refusals.unknown_schema()
            return entry

    def entry(self, subject: str, version: int | None, *, deleted: bool = False) -> Entry:
        """Return a version of a subject; None means the latest."""
        with self.lock:
            entries = self._known(subject, deleted=deleted)
            if version is None:
                return entries[-1]
            for entry in entries:
                if entry.version == version:
                    return entry
            raise refusals.unknown_version(version)

    def versions(self, subject: str, *, deleted: bool = False) -> list[int]:
        """Return the numbers of a subject's versions."""
        with self.lock:
            return [entry.version for entry in self._known(subject, deleted=deleted)]

    def subjects(self, *, prefix: str = "", deleted: bool = False) -> list[str]:
        """Return the names of the subjects."""
        with self.lock:
            return [
                subject
                for subject in sorted(self.state.entries)
                if subject.startswith(prefix) and self.state.versions(subject, deleted=deleted)
            ]

    def schema(self, id: int) -> Schema:
        """Return a schema by its id, unless all its versions were permanently deleted."""
        with self.lock:
            if id not in self.state.schemas or not self.state.using(id, deleted=True):
                raise refusals.unknown_schema(id)
            return self.state.schemas[id]

    def delete_subject(self, subject: str, *, permanent: bool = False) -> list[int]:
        """Delete all versions of a subject, softly or permanently; return their numbers."""
        with self.lock:
            every = [entry.version for entry in self._known(subject, deleted=True)]
            using = [entry.version for entry in self.state.versions(subject)]
            if permanent and using:
                raise refusals.subject_not_soft_deleted(subject)
            if not permanent and not using:
                raise refusals.subject_soft_deleted(subject)
            self._deletable(subject, using)
            self._change(state.forgotten(subject, every) if permanent else state.deleted(subject, using))
            return every if permanent else using

    def delete_version(self, subject: str, version: int | None, *, permanent: bool = False) -> int:
        """Delete one version, softly or permanently; return its number."""
        with self.lock:
            entry = self.entry(subject, version, deleted=True)
            if permanent and not entry.deleted:
                raise refusals.version_not_soft_deleted(subject, entry.version)
            if not permanent and entry.deleted:
                raise refusals.version_soft_deleted(subject, entry.version)
            self._deletable(subject, [entry.version])
            numbers = [entry.version]
            self._change(state.forgotten(subject, numbers) if permanent else state.deleted(subject, numbers))
            return entry.version

    def level(self, subject: str | None = None) -> str:
        """Return the compatibility level that applies to a subject, or the global one."""
        levels = self.state.levels
        return levels.get(subject) or levels.get(None) or DEFAULT_LEVEL

    def set_level(self, subject: str | None, level: str | None) -> None:
        """Set a compatibility level; None removes it."""
        if level is not None and level not in LEVELS:
            raise refusals.invalid_level()
        with self.lock:
            self._change(state.level_set(subject, level))

    def mode(self, subject: str | None = None) -> str:
        """Return the mode that applies to a subject, or the global one."""
        modes = self.state.modes
        if modes.get(None) == "READONLY_OVERRIDE":
            return "READONLY_OVERRIDE"
        return modes.get(subject) or modes.get(None) or DEFAULT_MODE

    def set_mode(self, subject: str | None, mode: str | None, *, force: bool = False) -> None:
        """Set a mode; None removes it. Import mode requires an empty registry, unless forced."""
        if mode is not None and mode not in MODES:
            raise refusals.invalid_mode()
        with self.lock:
            there = self.state.versions(subject) if subject else self.subjects()
            if mode == "IMPORT" and there and not force and self.mode(subject) != "IMPORT":
                raise refusals.not_permitted("Cannot import since found existing subjects")
            self._change(state.mode_set(subject, mode))

    def reasons(self, subject: str, schema: Schema, entries: list[Entry]) -> list[str]:
        """Return the reasons against a schema next to some versions of a subject, under its level."""
        with self.lock:
            parsed = self.parsed(schema)
            older = [(entry.version, self.parsed(self.state.schemas[entry.id])) for entry in entries]
            return reasons_against(self.level(subject), parsed, older)

    def compared(self, subject: str) -> list[Entry]:
        """Return the versions that the level of a subject compares a new schema with."""
        with self.lock:
            return against(self.level(subject), self.state.versions(subject))

    def parsed(self, schema: Schema) -> Parsed:
        """Return a parsed schema, including its references."""
        if schema.type not in TYPES:
            raise refusals.unreadable(
                f"Invalid schema type {schema.type}. Valid values are {', '.join(TYPES)}"
            )
        try:
            return parse(schema.type, schema.text, self.referenced(schema))
        except InvalidSchemaError as problem:
            raise refusals.invalid_schema(str(problem)) from problem

    def referenced(self, schema: Schema) -> Mapping[str, str]:
        """Return the texts that a schema needs, by the names it uses, dependencies first."""
        texts: dict[str, str] = {}
        for reference in schema.references:
            entry = self.state.entries.get(reference.subject, {}).get(reference.version)
            if entry is None:
                raise refusals.invalid_schema(
                    f"there is no version {reference.version} of the subject '{reference.subject}', "
                    f"required by the reference '{reference.name}'"
                )
            target = self.state.schemas[entry.id]
            if target.type != schema.type:
                raise refusals.invalid_schema(
                    f"the reference '{reference.name}' refers to a schema of the type {target.type}, "
                    f"not {schema.type}"
                )
            texts.update(self.referenced(target))
            texts[reference.name] = target.text
        return texts

    def _canonical(self, schema: Schema, parsed: Parsed, normalize: bool) -> Schema:
        return schema._replace(text=parsed.normalized if normalize else parsed.canonical)

    def _find(self, subject: str, canonical: Schema, *, deleted: bool) -> Entry | None:
        for entry in reversed(self.state.versions(subject, deleted=deleted)):
            if self.state.schemas[entry.id] == canonical:
                return entry
        return None

    def _known(self, subject: str, *, deleted: bool) -> list[Entry]:
        entries = self.state.versions(subject, deleted=deleted)
        if not entries:
            raise refusals.unknown_subject(subject)
        return entries

    def _check_compatibility(self, subject: str, parsed: Parsed) -> None:
        level = self.level(subject)
        older = [
            (entry.version, self.parsed(self.state.schemas[entry.id])) for entry in self.compared(subject)
        ]
        reasons = reasons_against(level, parsed, older)
        if reasons:
            raise refusals.incompatible(subject, level, reasons)

    def _entry(self, subject: str, canonical: Schema, id: int | None, version: int | None) -> Entry:
        if id is None:
            id = self.state.ids.get(canonical) or max(self.state.schemas, default=0) + 1
        elif self.state.schemas.get(id, canonical) != canonical:
            raise refusals.not_permitted(f"Overwrite new schema with id {id} is not permitted.")
        if version is None:
            version = max(self.state.entries.get(subject, {}), default=0) + 1
        return Entry(subject, version, id)

    def _deletable(self, subject: str, versions: list[int]) -> None:
        if self.mode(subject).startswith("READONLY"):
            raise refusals.not_permitted(f"Subject {subject} is in read-only mode")
        for version in versions:
            if self.state.referring_to(subject, version):
                raise refusals.referenced(subject, version)

    def _change(self, event: Event) -> None:
        if self._record is not None:
            self._record(event)
        self.state.apply(event)
