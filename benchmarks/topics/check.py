"""Checks the results that a case wrote to its topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from benchmarks.failures import WrongResultError
from benchmarks.topics.cases import Case
from benchmarks.topics.workloads import as_result, block
from brookmere.topics import Topic

_SHOWN = 3


def check(case: Case, out: Topic, read: int) -> int:
    """Return how many records a case wrote after reading this many.

    Raises:
        WrongResultError: the results are wrong.
    """
    written = sum(out.end_offsets())
    right = _right_number(case, read)
    if right is not None and written != right:
        raise WrongResultError(f"{case.name}: wrote {written:,} records instead of {right:,}")
    if case.step == "whole":
        expected = block(case.workload).expected(read)
        found = _last_counts(case, out) if case.workload.counts else _written(out)
        if found != expected:
            raise WrongResultError(f"{case.name}: {_difference(found, expected)}")
    return written


def _right_number(case: Case, read: int) -> int | None:
    if case.step != "whole":
        return read if case.step in ("copy", "encode") else 0
    workload = case.workload
    if case.emit == "every" or not workload.counts:
        return block(workload).expected(read).total()
    # The loop divides its batches differently.
    if case.engine == "Python loop":
        return None
    return block(workload).updated(workload.rows, read // workload.rows)


def _records(out: Topic) -> Iterator[tuple[bytes | None, bytes]]:
    for partition in range(out.partitions):
        for batch in out.read_batches(partition):
            yield from zip(batch.column("key").to_pylist(), batch.column("value").to_pylist(), strict=True)


def _last_counts(case: Case, out: Topic) -> dict[str, int]:
    last = dict(_records(out))
    if case.engine == "PySpark":
        return {(key or b"").decode(): int(value) for key, value in last.items()}
    return {(key or b"").decode(): int.from_bytes(value, "big") for key, value in last.items()}


def _written(out: Topic) -> Counter[str]:
    found: Counter[str] = Counter()
    for (key, value), times in Counter(_records(out)).items():
        found[as_result(key, value)] += times
    return found


def _difference(found: Mapping[str, int], expected: Mapping[str, int]) -> str:
    wrong = [key for key in found.keys() | expected.keys() if found.get(key) != expected.get(key)]
    shown = [f"{key!r} {found.get(key)} instead of {expected.get(key)}" for key in sorted(wrong)[:_SHOWN]]
    return f"{len(wrong):,} of {len(expected):,} results are wrong: {', '.join(shown)}"
