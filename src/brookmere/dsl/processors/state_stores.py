"""Builders of the state stores that processors use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from brookmere.dsl.arguments.checks import refuse
from brookmere.dsl.functions.types import is_type, words_for
from brookmere.serde import Serde, Windowed
from brookmere.serde.default import Natural
from brookmere.topology.durations import Duration, milliseconds
from brookmere.topology.function import Location, here
from brookmere.topology.nodes import Store, StoreKind, StoreType


@dataclass(frozen=True, slots=True)
class StoreBuilder:
    """A state store for processors, created by key_value_store() and the like.

    Equal builders mean the same store: processors that receive equal ones share it.
    """

    name: str
    kind: StoreKind
    key: object
    value: object
    store_type: StoreType = "auto"
    changelog: bool = True
    retention_ms: int | None = None
    window_ms: int | None = None
    location: Location | None = field(default=None, compare=False)

    def store(self) -> Store:
        """Return the store for the topology."""
        return Store(
            name=self.name,
            store_type=self.store_type,
            queryable=True,
            kind=self.kind,
            retention_ms=self.retention_ms,
            window_ms=self.window_ms,
            key=self._logged_key(),
            value=self.value if isinstance(self.value, Serde) else None,
            key_type=self.key,
            value_type=self.value,
            logged=self.changelog,
        )

    def _logged_key(self) -> Serde | None:
        """Return the serde of changelog keys; windowed keys are written as in Kafka Streams."""
        own = self.key if isinstance(self.key, Serde) else None
        if self.kind == "window":
            size = None if self.window_ms is None else timedelta(milliseconds=self.window_ms)
            return Windowed(own or Natural(), size=size)
        return Windowed(own or Natural(), session=True) if self.kind == "session" else own


def key_value_store(
    name: str, *, key: object, value: object, store_type: StoreType = "auto", changelog: bool = True
) -> StoreBuilder:
    """Describe a store with one value per key.

    `key` and `value` are serdes or types, as for `returns` of `python`; `Pickled()` stores any object.
    Without `changelog` the store is just as durable, but cannot be queried from outside.
    """
    return _builder(name, "key_value", key, value, store_type, changelog)


def window_store(
    name: str,
    *,
    key: object,
    value: object,
    window: Duration,
    retention: Duration,
    store_type: StoreType = "auto",
    changelog: bool = True,
) -> StoreBuilder:
    """Describe a store with a value per key and window of length `window`, kept for `retention`."""
    length = milliseconds("window of window_store", window, least=1)
    kept = milliseconds("retention of window_store", retention, least=1)
    if kept < length:
        refuse(
            f"The retention of store {name!r} is too short: {kept} ms for windows of {length} ms",
            f"Pass at least {length} ms",
        )
    return _builder(name, "window", key, value, store_type, changelog, kept, length)


def session_store(
    name: str,
    *,
    key: object,
    value: object,
    retention: Duration,
    store_type: StoreType = "auto",
    changelog: bool = True,
) -> StoreBuilder:
    """Describe a store with a value per key and session, kept for `retention`."""
    kept = milliseconds("retention of session_store", retention, least=1)
    return _builder(name, "session", key, value, store_type, changelog, kept)


def versioned_store(
    name: str,
    *,
    key: object,
    value: object,
    history: Duration,
    store_type: StoreType = "auto",
    changelog: bool = True,
) -> StoreBuilder:
    """Describe a store that also keeps the earlier values of a key, as far back as `history`."""
    kept = milliseconds("history of versioned_store", history)
    return _builder(name, "versioned", key, value, store_type, changelog, kept)


def stores_of(given: object) -> tuple[str | StoreBuilder, ...]:
    """Check the stores of a processor."""
    if isinstance(given, str | StoreBuilder) or not isinstance(given, Iterable):
        return (_store_of(given),)
    return tuple(_store_of(each) for each in given)


def _store_of(given: object) -> str | StoreBuilder:
    if not isinstance(given, str | StoreBuilder):
        refuse(
            f"stores= takes names of stores and store builders, found {given!r}",
            "Pass for example brookmere.key_value_store(...), or the store= of a table",
        )
    return given


def _builder(
    name: str,
    kind: StoreKind,
    key: object,
    value: object,
    store_type: StoreType,
    changelog: bool,
    retention_ms: int | None = None,
    window_ms: int | None = None,
) -> StoreBuilder:
    for role, spec in (("key", key), ("value", value)):
        if not is_type(spec):
            refuse(
                f"The {role} of store {name!r} is not a type: found {words_for(spec)}",
                "Pass a serde, a DDL string, a Python type, a dataclass, or brookmere.Pickled()",
            )
    return StoreBuilder(name, kind, key, value, store_type, changelog, retention_ms, window_ms, here())
