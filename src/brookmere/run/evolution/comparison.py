"""Compares a program with its previous version: what happens to the state, store by store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from brookmere.errors import StateError
from brookmere.run.evolution.identity import Identity, StoreForm, table_of
from brookmere.run.evolution.store_matches import Matches, match

Outcome = Literal["kept", "moved", "converted", "renamed", "new", "dropped", "refused"]

_FOREVER = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Finding:
    """What happens to one store, and why."""

    store: str
    outcome: Outcome
    details: tuple[str, ...] = ()
    remedy: str = ""

    def __str__(self) -> str:
        words = "new and empty" if self.outcome == "new" else self.outcome
        return words + "".join(f"; {detail}" for detail in self.details)


@dataclass(frozen=True, slots=True)
class Evolution:
    """What a new version of a program does with the state of the previous one."""

    before: Identity
    now: Identity
    problems: tuple[str, ...] = ()
    """What rules out any migration."""
    findings: tuple[Finding, ...] = ()
    pairs: dict[str, str] = field(default_factory=dict)
    """By new store, the old store whose state it takes over."""

    notes: tuple[str, ...] = ()
    """What else to know before a start."""

    @property
    def refusals(self) -> tuple[Finding, ...]:
        """The stores whose state cannot be migrated."""
        return tuple(f for f in self.findings if f.outcome == "refused")

    @property
    def is_possible(self) -> bool:
        """Whether the new version can use the state."""
        return not self.problems and not self.refusals

    @property
    def changes(self) -> tuple[Finding, ...]:
        """The findings that are worth reporting."""
        return tuple(f for f in self.findings if f.outcome != "kept" or f.details)

    @property
    def needs_move(self) -> bool:
        """Whether the state has to be migrated before the new version can use it."""
        b, n = self.before, self.now
        if (b.stages, b.copies) != (n.stages, n.copies):
            return True
        if b.tasks != n.tasks and any(form.is_global for form in n.stores.values()):
            return True
        if any(f.outcome in ("moved", "converted", "renamed", "dropped") for f in self.findings):
            return True
        # The clock of a node is stored under its name, which may contain a number.
        return any(
            n.stores[new].retention is not None and b.stores[old].clocks != n.stores[new].clocks
            for new, old in self.pairs.items()
        )

    def check(self, directory: Path) -> None:
        """Refuse state that cannot be migrated.

        Raises:
            StateError: with every difference and its remedy.
        """
        if self.problems:
            raise StateError(
                f"The application {self.now.application!r} cannot use the state in {directory}. "
                f"Found: {'; '.join(self.problems)}. "
                "Run the program that matches, or start from scratch under another application.id or without "
                "this directory: the application then loses its state and offsets."
            )
        if self.refusals:
            found = "; ".join(f"the store {f.store!r}: {', '.join(f.details)}" for f in self.refusals)
            remedies = " ".join(dict.fromkeys(f.remedy for f in self.refusals))
            raise StateError(
                f"The application {self.now.application!r} cannot use the state in {directory}. "
                f"Found: {found}. {remedies} Nothing was changed: the previous version can still run."
            )


def compare(before: Identity, now: Identity) -> Evolution:
    """Find out what a new version of a program does with the state of the previous one."""
    problems = tuple(_problems(before, now))
    if before.application != now.application:
        return Evolution(before, now, problems)
    matches = match(before.stores, now.stores)
    findings = [_finding(name, before, now, matches) for name in now.stores]
    findings += _copies(before, now, matches)
    gone = [name for name in before.stores if name not in matches.pairs.values()]
    doubted = {old for alike in matches.doubtful.values() for old in alike}
    findings += [_dropped(name, now) for name in gone if name not in doubted]
    return Evolution(before, now, problems, tuple(findings), dict(matches.pairs))


def _dropped(name: str, now: Identity) -> Finding:
    if name in now.stores:
        return Finding(name, "dropped", ("the operator that had this store was removed",))
    return Finding(name, "dropped", ("the program no longer has it; if it comes back, it starts empty",))


def _problems(before: Identity, now: Identity) -> Iterator[str]:
    if before.application != now.application:
        yield f"it belongs to the application {before.application!r}"
    for topic, known in before.topics.items():
        if now.topics.get(topic, known) != known:
            yield f"the topic {topic!r} was deleted and recreated since the application read it"
        count = before.partitions.get(topic)
        new = now.partitions.get(topic, count)
        # Without state, any task may process a record.
        if count is not None and new != count and (before.stores or now.stores):
            yield (
                f"the topic {topic!r} had {count} partitions and now has {new}, but the state of each key is "
                "stored with the partition that the key had"
            )


def _finding(name: str, before: Identity, now: Identity, matches: Matches) -> Finding:
    form = now.stores[name]
    if name in matches.doubtful:
        old = " or ".join(matches.doubtful[name])
        detail = f"it may have been {old}: unnamed stores are numbered in the order of the operators"
        remedy = (
            "Name the unnamed stores with store= or name= in the previous version, start it once, and then "
            "change it; or name the new store, and it starts empty."
        )
        return Finding(name, "refused", (detail,), remedy)
    if name not in matches.pairs:
        return Finding(name, "new", tuple(_missing(form, before)))
    old = matches.pairs[name]
    was = before.stores[old]
    differences = tuple(_differences(was, form))
    if differences:
        return Finding(
            name, "refused", differences, f"Give the result a new name with store= instead of {name!r}."
        )
    return _kept(name, old, was, form)


def _kept(name: str, old: str, was: StoreForm, form: StoreForm) -> Finding:
    outcome: Outcome = "kept"
    details: list[str] = []
    if old != name:
        outcome = "renamed"
        details.append(f"it was named {old}")
    if was.stage != form.stage:
        outcome = "moved"
        details.append(f"from stage {was.stage} to stage {form.stage}")
    if was.kind != form.kind:
        # A store of the kind auto can read what one in memory has written.
        outcome = (
            outcome if (was.kind, form.kind) == ("memory", "auto") and outcome == "kept" else "converted"
        )
        details.append(f"from {was.kind} to {form.kind}")
    if was.retention != form.retention:
        outcome = "converted"
        details.append(_retention(was.retention, form.retention))
    elif was.timed != form.timed:
        outcome = "converted"
        details.append(
            "its rows are indexed by time" if form.timed else "its rows are no longer indexed by time"
        )
    return Finding(name, outcome, tuple(details))


def _retention(was: int | None, now: int | None) -> str:
    old, new = _span(was), _span(now)
    if (now or 0) < (was or 0):
        return f"retention {new} instead of {old}: older rows are removed"
    return f"retention {new} instead of {old}: removed rows do not come back"


def _span(milliseconds: int | None) -> str:
    return "unlimited" if milliseconds is None or milliseconds == _FOREVER else f"{milliseconds} ms"


def _differences(was: StoreForm, now: StoreForm) -> Iterator[str]:
    if was.is_global != now.is_global:
        yield f"it holds {_table(was)}, but the program needs {_table(now)}"
        return
    if was.holds != now.holds or was.rows != now.rows:
        yield f"it holds {_held(was)}, but the program needs {_held(now)}"
        return
    for part, old, new in (("keys", was.key, now.key), ("values", was.value, now.value)):
        if old != new:
            yield f"it has {part} of {old}, but the program needs {new}"
    # The buffers of a join hold records that do not belong to a window yet.
    if was.holds in ("window", "session") and was.windows and was.windows != now.windows:
        yield f"its rows are of {was.windows}, but the program needs {now.windows}"
    if was.partitions and was.partitions != now.partitions:
        yield (
            f"its rows are spread over {was.partitions} partitions, but the program spreads them over "
            f"{now.partitions}"
        )


def _table(form: StoreForm) -> str:
    return "a global table" if form.is_global else "rows by partition"


def _held(form: StoreForm) -> str:
    return form.holds.replace("_", " ") + ("s" if form.holds in ("window", "session") else " rows")


def _missing(form: StoreForm, before: Identity) -> Iterator[str]:
    read = [topic for topic in form.topics if topic in before.topics]
    if read and not form.is_global:
        yield f"earlier records of {', '.join(read)} are not in it"
    elif read:
        yield f"{', '.join(read)} is not read again for it"


def _copies(before: Identity, now: Identity, matches: Matches) -> Iterator[Finding]:
    """Yield new copies of tables, which start with the rows of their table."""
    for name, stages in now.copies.items():
        table = table_of(name)
        if table not in now.stores:
            # Python code makes the rows, so they are in no store.
            if name not in before.copies:
                yield Finding(name, "new", ("earlier records are not in it",))
            continue
        if set(stages) <= set(before.copies.get(name, ())):
            continue
        if table in matches.pairs:
            yield Finding(name, "new", (f"it starts with the rows of {table}",))
