"""What all stores share: conversions, a cache, and requests to the JVM for rows that are not in it."""

from __future__ import annotations

import json
import marshal
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Generic, Protocol, TypeVar

from brookmere.worker.types.python_values import reader, writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from brookmere.worker.protocol.stage_code import StoreCode, TypeCode
    from brookmere.worker.task.row import Row

MOST_KEYS: Final = 300_000
"""How many keys a store caches between batches."""
MOST_BYTES: Final = 128 << 20
"""How large the cache may become, estimated from a few rows."""
SAMPLE: Final = 16
"""How many rows the estimate uses."""

Cached = TypeVar("Cached")


class Keeper(Protocol):
    """Gives stores their rows: the task, which asks the JVM."""

    row: Row

    def ask(self, question: str, store: int, *details: Any) -> Any:
        """Return the JVM's answer to a request, which also carries all changes so far."""
        ...

    def keys_of_chunk(self, kind: TypeCode | None) -> Iterable[Any]:
        """Return the keys of the chunk's records that have this type, in wire form."""
        ...


class CachedStore(Generic[Cached]):
    """What all stores have in common: a cache by key, and conversions at its edges.

    A value is converted when it is put and when it is got. So what user code does to a dict or a list that it
    got, or has put, changes nothing in the store until it puts it again.
    """

    def __init__(self, code: StoreCode, number: int, keeper: Keeper) -> None:
        self.code = code
        self.name = code.name
        self.number = number
        self._keeper = keeper
        self._row = keeper.row
        self._known: dict[Any, Cached] = {}
        self._read_key = reader(code.key) or _same
        self._read = reader(code.value) or _same
        self._send_key = writer(code.key, f"a key of the store {code.name!r}") or _same
        self._send = writer(code.value, f"a value of the store {code.name!r}") or _same
        # Keys of this class are found as they are; others are converted first.
        self._plain = plain_class(code.key)
        self._place = _same if self._plain is not None else _frozen

    def _wire(self, key: Any) -> Any:
        if key is None:
            raise ValueError(
                f"the store {self.name!r} has no key None; leave such records out, or choose another key"
            )
        return self._send_key(key)

    def _missing(self, key: Any, wire: Any, place: Any) -> list[Any]:
        """Return the keys to ask for: with the key of the record at hand all those of the chunk."""
        row = self._row
        if not row.is_record or row.key != key:
            return [wire]
        keys = self._keeper.keys_of_chunk(self.code.key)
        if self._place is _same:
            # Such a difference looks each of the keys up, it does not walk through the known ones.
            missing = set(keys).difference(self._known)
            missing.discard(None)
            missing.add(wire)
            return list(missing)
        wires = {_frozen(k): k for k in keys if k is not None}
        wires[place] = wire
        return [k for at, k in wires.items() if at not in self._known]

    def _shrink(self, values_of: Callable[[Cached], Any]) -> None:
        """Evict the oldest keys from a full cache. Their changes must have been sent."""
        known = self._known
        if len(known) < SAMPLE:
            return
        sample = [len(marshal.dumps(values_of(cached), 2)) for cached in islice(known.values(), SAMPLE)]
        most = min(MOST_KEYS, MOST_BYTES * SAMPLE // max(1, sum(sample)))
        if len(known) > most:
            for place in list(islice(known, len(known) - most // 2)):
                del known[place]

    def forget(self) -> None:
        """Forget all rows: the JVM knows better."""
        self._known.clear()

    def _of_range(self, lower: Any, upper: Any) -> tuple[Any, Any]:
        return (
            None if lower is None else self._send_key(lower),
            None if upper is None else self._send_key(upper),
        )


def is_scalar(kind: TypeCode | None) -> bool:
    """Return whether values of the type are the same on the wire, and cannot be changed in place."""
    return plain_class(kind) is not None


def plain_class(kind: TypeCode | None) -> type | None:
    """Return the class of values that are the same on the wire; None for types of other values."""
    if kind is None or kind.made is not None or kind.is_windowed or kind.is_pickled:
        return None
    found = json.loads(kind.json)
    return _CLASSES.get(found) if isinstance(found, str) else None


_CLASSES: Final[dict[str, type]] = {
    "string": str,
    "binary": bytes,
    "boolean": bool,
    "byte": int,
    "short": int,
    "integer": int,
    "long": int,
    "float": float,
    "double": float,
}


def _same(value: Any) -> Any:
    return value


def _frozen(wire: Any) -> Any:
    """Return a form of a key that has a hash: a struct may come as a dict or as the tuple of its fields."""
    if type(wire) is dict:
        return tuple([_frozen(part) for part in wire.values()])
    if type(wire) is list or type(wire) is tuple:
        return tuple([_frozen(part) for part in wire])
    return wire
