"""The measured queries, and what they are compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from benchmarks.kernel import cases as kernel

Shape = Literal[
    "tumbling", "hopping", "session", "count", "table", "chain", "inner", "left", "foreign"
]  # fmt: skip
StoreKind = Literal["memory", "rocksdb"]

SHAPES: tuple[Shape, ...] = get_args(Shape)
STORES: tuple[StoreKind, ...] = get_args(StoreKind)
NATIVE: tuple[Shape, ...] = ("tumbling", "hopping", "session", "inner", "left")
"""What Spark can do as well. It has no join with a changing table, and no aggregate of an aggregate."""

TURNS: tuple[tuple[Shape, ...], ...] = (
    ("tumbling",),
    ("hopping",),
    ("session",),
    ("count", "table", "chain"),
    ("inner",),
    ("left",),
    ("foreign",),
)
"""The shapes whose cases take turns."""

SHARES: dict[Shape, int] = {"hopping": 4, "session": 2, "inner": 2, "left": 2, "foreign": 4}
"""The fraction of the requested rows per batch, for shapes whose rows are more work than one update."""

_WORK: dict[Shape, str] = {
    "tumbling": "tumbling count",
    "hopping": "hopping count, 5 windows",
    "session": "session count",
    "count": "count by key",
    "table": "stream-table join, left",
    "chain": "chain of two counts",
    "inner": "stream-stream join, inner",
    "left": "stream-stream join, left",
    "foreign": "foreign-key join",
}

_BY_SPARK: dict[Shape, str] = {
    "tumbling": "Spark, update",
    "hopping": "Spark, update",
    "session": "Spark, append",
    "inner": "Spark, append",
    "left": "Spark, append",
}


@dataclass(frozen=True, slots=True)
class Case:
    """A query to measure. Without a store kind it is Spark's own."""

    shape: Shape
    store: StoreKind | None = None
    direct: bool = False

    @property
    def work(self) -> str:
        """What it does."""
        return _WORK[self.shape]

    @property
    def by(self) -> str:
        """Who does it, and what is emitted: every update, one per batch, or only final results."""
        return _BY_SPARK[self.shape] if self.store is None else f"Brookmere, {self.store}"

    @property
    def name(self) -> str:
        """The name shown to people."""
        return f"{self.work}: {self.by}"

    @property
    def in_kernel(self) -> kernel.Case | None:
        """The same case of the part `kernel`, if it has one."""
        if self.shape == "count" or self.shape == "chain":
            return kernel.Case(self.shape, self.store, "every")
        return None

    @property
    def rival(self) -> Shape:
        """The shape it is compared with: Spark's version of it, or Brookmere's count by key."""
        return self.shape if self.shape in NATIVE else "count"


def contestants(shapes: tuple[Shape, ...], stores: tuple[StoreKind, ...]) -> list[Case]:
    """Return the cases of some shapes that take turns."""
    found = []
    for shape in shapes:
        found += [Case(shape)] if shape in NATIVE else []
        found += [Case(shape, store) for store in stores]
    return found
