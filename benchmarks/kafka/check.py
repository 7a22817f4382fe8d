"""Checks the results that a contestant wrote to its topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from benchmarks.failures import WrongResultError
from benchmarks.kafka.cluster import Cluster
from benchmarks.kafka.contestants import Contestant
from benchmarks.kafka.workloads import Workload
from benchmarks.topics.workloads import as_result

_SHOWN = 3
_START_BYTES = 8


def check(cluster: Cluster, topic: str, contestant: Contestant, workload: Workload, loads: int) -> int:
    """Return how many records a contestant wrote for this many loads.

    Raises:
        WrongResultError: the results are wrong.
    """
    if workload.kind in ("projection", "join"):
        written = Counter(_records(cluster, topic))
        found: Mapping[str, int] = _results(workload, written)
        number = written.total()
    else:
        last: dict[bytes, bytes] = {}
        number = 0
        for key, value in _records(cluster, topic):
            last[key] = value
            number += 1
        found = {_key(contestant, workload, key): _count(contestant, value) for key, value in last.items()}
    expected = workload.expected(loads)
    if found != expected:
        name = f"{contestant.name}, {workload.name}"
        raise WrongResultError(f"{name}: {_difference(found, expected)}")
    return number


def _records(cluster: Cluster, topic: str) -> Iterator[tuple[bytes, bytes]]:
    """Yield key and value of all results; results keyed by time were counted on arrival."""
    for message in cluster.messages(topic):
        key = message.key()
        if not key.isdigit():
            yield key, message.value()


def _results(workload: Workload, written: Mapping[tuple[bytes, bytes], int]) -> Counter[str]:
    found: Counter[str] = Counter()
    for (key, value), times in written.items():
        shown = f"{key.decode()}:{value.decode()}" if workload.kind == "join" else as_result(key, value)
        found[shown] += times
    return found


def _key(contestant: Contestant, workload: Workload, key: bytes) -> str:
    if workload.kind != "windows" or contestant.short == "pyspark":
        return key.decode()
    return f"{key[:-_START_BYTES].decode()}@{int.from_bytes(key[-_START_BYTES:], 'big')}"


def _count(contestant: Contestant, value: bytes) -> int:
    return int(value) if contestant.short == "pyspark" else int.from_bytes(value, "big")


def _difference(found: Mapping[str, int], expected: Mapping[str, int]) -> str:
    wrong = [key for key in found.keys() | expected.keys() if found.get(key) != expected.get(key)]
    shown = [f"{key!r} {found.get(key)} instead of {expected.get(key)}" for key in sorted(wrong)[:_SHOWN]]
    return f"{len(wrong):,} of {len(expected):,} results are wrong: {', '.join(shown)}"
