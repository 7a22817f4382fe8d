"""Draws what a program is fed, in how many partitions, and where the records are cut into batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from hypothesis import strategies as st

from brookmere import Record
from tests.properties.programs import Program
from tests.properties.strategies import ANYTHING, Draw, Limits, programs

T = TypeVar("T")
Fed = tuple[str, Record]
Partitions = int | dict[str, int]

_MOST_PARTITIONS = 4
_EVERYTHING = 1000
_KEYS = ("a", "b", "ab", "", "é", None)
_VALUES = ("a", "b", "", "a b", "b a b", "é a", None)
_HEADERS = ((), (), (("h", b"1"),), (("h", b"1"), ("h", None)))


@dataclass(frozen=True)
class Case:
    """A program, what it is fed, and how many partitions its topics have."""

    program: Program
    records: tuple[Fed, ...]
    partitions: Partitions

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        fed = "".join(f"\n    {topic}: {_told(record)}" for topic, record in self.records)
        printer.text(f"{self.program}\n  with partitions {self.partitions}, fed with{fed}\n")


def _told(record: Record) -> str:
    headers = f", headers {record.headers}" if record.headers else ""
    partition = "" if record.partition is None else f", partition {record.partition}"
    return f"{record.key!r}: {record.value!r} at {record.timestamp}{headers}{partition}"


@st.composite
def cases(
    draw: Draw,
    limits: Limits = ANYTHING,
    *,
    least_records: int = 0,
    most_records: int = 16,
    least_partitions: int = 1,
) -> Case:
    """Draw a program and what it is fed."""
    program = draw(programs(limits))
    counts = st.integers(least_partitions, _MOST_PARTITIONS)
    partitions: Partitions = draw(counts)
    if not program.has("cogroup"):
        topics = [*program.inputs, *(step.args[0] for step in program.steps if step.op == "through")]
        partitions = draw(
            st.one_of(st.just(partitions), st.fixed_dictionaries(dict.fromkeys(topics, counts)))
        )
    fed = st.tuples(st.sampled_from(program.inputs), records())
    # A list that may have any length is mostly short.
    size = draw(st.integers(least_records, most_records))
    drawn = draw(st.lists(fed, min_size=size, max_size=size))
    return Case(program, tuple(_placed(record, partitions) for record in drawn), partitions)


def records() -> st.SearchStrategy[Record]:
    """Draw records over few keys, values and times, so that they meet; times go back and forth."""
    return st.builds(
        Record,
        st.sampled_from(_KEYS),
        st.sampled_from(_VALUES),
        st.integers(0, 20),
        st.sampled_from(_HEADERS),
        partition=st.one_of(st.none(), st.none(), st.integers(0, _MOST_PARTITIONS - 1)),
    )


def _placed(fed: Fed, partitions: Partitions) -> Fed:
    """Return a record with a partition that there is; the driver would take turns for one without key."""
    topic, record = fed
    count = partitions if isinstance(partitions, int) else partitions[topic]
    if record.key is None or record.partition is not None:
        record = replace(record, partition=(record.partition or 0) % count)
    return topic, record


def cuts() -> st.SearchStrategy[list[int]]:
    """Draw the sizes of batches, or one for all; they are repeated until all records are in one."""
    return st.one_of(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.just([_EVERYTHING]))


def cut(records: Sequence[T], sizes: list[int]) -> list[list[T]]:
    """Return the records in batches of these sizes."""
    batches: list[list[T]] = []
    left = list(records)
    while left:
        size = sizes[len(batches) % len(sizes)]
        batches.append(left[:size])
        left = left[size:]
    return batches


def whole(records: Sequence[T]) -> list[list[T]]:
    """Return the records in one batch."""
    return [list(records)]


def single(records: Sequence[T]) -> list[list[T]]:
    """Return each record in a batch of its own."""
    return [[record] for record in records]
