"""Runs a stage of a single node in a worker, and tells what comes out as Python values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from brookmere.worker.protocol.stage_code import Child, StoreCode, TypeCode, Work
from brookmere.worker.task.collector import DROPPED
from brookmere.worker.types.python_values import reader
from tests.worker.jvm import LONG, OUTSIDE, STRING, Fed, Jvm, stage_of

__all__ = ["LONG", "TEXT", "Alone"]

TEXT = STRING


class Alone:
    """A node without neighbours, and what came out of it so far."""

    def __init__(
        self,
        work: Work,
        *,
        children: Sequence[str] = ("behind",),
        is_table: bool = False,
        last_per_batch: bool = False,
        **types: TypeCode,
    ) -> None:
        given = {"key": TEXT, "value": TEXT, "out_key": TEXT, "out_value": TEXT, **types}
        store = getattr(work, "store", None)
        stores = [] if store is None else [StoreCode(store, "key_value", given["key"], given["out_value"])]
        named = tuple(Child(name, OUTSIDE + at) for at, name in enumerate(children))
        code = stage_of(
            work, *stores, children=named, is_table=is_table, sends_table=is_table, **given
        )  # fmt: skip
        self.jvm = Jvm(replace(code, last_per_batch=last_per_batch))
        self.errors: list[tuple[int, BaseException]] = []
        self.told: list[tuple[str, str, str]] = []
        self.dropped = 0
        self._names = {child.number: child.name for child in named} if len(named) > 1 else {}
        self._reads = [reader(kind) or _same for kind in (given["out_key"], given["out_value"])]

    def receive(self, *records: tuple[Any, Any], ts: int = 5) -> list[tuple[Any, ...]]:
        """Hand over a chunk of records as they travel; return what came out of it."""
        answer = self._batch([Fed(key, value, ts) for key, value in records])
        return [
            (*([self._names[sent.to]] if self._names else []), *self._read(sent.key, sent.value))
            for sent in answer.sent
        ]

    def change(self, key: Any, new: Any, old: Any, *, is_latest: bool = True) -> list[tuple[Any, ...]]:
        """Hand over a change of a table; return what came out of it."""
        return self.changes((key, new, old), is_latest=is_latest)

    def changes(self, *changes: tuple[Any, Any, Any], is_latest: bool = True) -> list[tuple[Any, ...]]:
        """Hand over the changes of a batch; return what came out of it."""
        rows = [Fed(key, (new, old, is_latest), 5) for key, new, old in changes]
        sent = self._batch(rows).sent
        return [(*self._read(s.key, s.value[0]), self._read(None, s.value[1])[1]) for s in sent]

    @property
    def rows(self) -> dict[Any, Any]:
        """What the node's store has."""
        return self.jvm.content()

    def close(self) -> None:
        self.jvm.server.close()

    def _batch(self, rows: list[Fed]) -> Any:
        self.jvm.heard.clear()
        answer = self.jvm.batch(*rows)
        assert len(answer.errors) == len(self.jvm.heard)
        self.errors += [(told[0], error) for told, error in zip(answer.errors, self.jvm.heard, strict=True)]
        self.told += [told[2:5] for told in answer.errors]
        self.dropped += answer.counts.get(0, [0] * 4)[DROPPED]
        return answer

    def _read(self, key: Any, value: Any) -> tuple[Any, Any]:
        return self._reads[0](key), self._reads[1](value)


def _same(value: Any) -> Any:
    return value
