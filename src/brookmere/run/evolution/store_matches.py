"""Matches the stores of two versions of a program: which new store takes over which old one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from brookmere.plan.lineage import is_generated
from brookmere.run.evolution.identity import StoreForm

Stores = Mapping[str, StoreForm]


@dataclass(frozen=True, slots=True)
class Matches:
    """The stores that belong together."""

    pairs: Mapping[str, str]
    """By new store, the old store whose state it takes over."""
    doubtful: Mapping[str, tuple[str, ...]]
    """Unnamed new stores that may match unnamed old ones with other numbers."""


def match(before: Stores, now: Stores) -> Matches:
    """Find the old store of each new one.

    A name that the user gave decides by itself. A generated name changes with the order of the operators and
    may now mean another operator, so the operators that own and feed the store decide, with the code of their
    functions. If these leave it open, the name decides, provided it means the same kind of operator on the
    same topics. The rest is ambiguous.
    """
    pairs = {name: name for name in now if name in before and not is_generated(name)}
    doubtful = _by_print(pairs, before, now)
    for name in _left(now, pairs):
        free = name in before and name not in pairs.values() and name not in doubtful
        # An earlier version of Brookmere did not record the operator of a store.
        if free and (not before[name].operator or _place(before[name]) == _place(now[name])):
            pairs[name] = name
    for name in _left(now, pairs):
        alike = [
            old
            for old, form in before.items()
            if is_generated(old) and old not in pairs.values() and _kind(form) == _kind(now[name])
        ]
        if is_generated(name) and alike:
            doubtful.setdefault(name, tuple(alike))
    return Matches(pairs, doubtful)


def _by_print(pairs: dict[str, str], before: Stores, now: Stores) -> dict[str, tuple[str, ...]]:
    """Pair unnamed old stores with new ones, named or not, that have the same operators.

    Returns the ambiguous ones: unnamed new stores with the old ones that they may be.
    """
    old = {n: f for n, f in before.items() if is_generated(n) and n not in pairs.values()}
    new = {name: now[name] for name in _left(now, pairs)}
    doubtful: dict[str, tuple[str, ...]] = {}
    found = _by(old, _print)
    for key, names in _by(new, _print).items():
        alike = found.get(key, [])
        if len(names) == 1 and len(alike) == 1:
            pairs[names[0]] = alike[0]
        elif set(names) == set(alike):
            pairs.update(zip(names, names, strict=True))
        elif alike:
            doubtful.update({name: tuple(alike) for name in names if is_generated(name)})
    return doubtful


def _left(now: Stores, pairs: Mapping[str, str]) -> list[str]:
    return [name for name in now if name not in pairs]


def _by(stores: Stores, key: Callable[[StoreForm], Hashable]) -> dict[Hashable, list[str]]:
    grouped: dict[Hashable, list[str]] = {}
    for name, form in stores.items():
        grouped.setdefault(key(form), []).append(name)
    return grouped


def _print(form: StoreForm) -> Hashable:
    # The stores of one join have the same operators, but hold different rows.
    return form.print, form.holds, form.key, form.value, form.rows


def _place(form: StoreForm) -> Hashable:
    return form.operator, form.holds, form.topics


def _kind(form: StoreForm) -> Hashable:
    return _place(form), form.key, form.value, form.windows, form.rows
