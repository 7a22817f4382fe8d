"""The goals for windows and joins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchmarks.marks import Goal
from benchmarks.operators.cases import NATIVE, Case, Shape
from benchmarks.operators.data import Feed
from benchmarks.rounds import Result

Results = Mapping[tuple[Case, int], Result[Case, Feed]]
"""By case and number of keys."""

FEW_KEYS, SOME_KEYS, MANY_KEYS = 10_000, 100_000, 1_000_000
LEAST_RATIOS: Mapping[Shape, float] = {"tumbling": 1.2, "table": 1.0, "inner": 1.0, "left": 1.0}
MOST_GROWTH = 3.0


def goals(results: Results) -> list[Goal]:
    """Return the goals that these results cover."""
    found = []
    for (case, keys), result in results.items():
        base, least = rival(results, case, keys), LEAST_RATIOS.get(case.shape)
        if case.store is None or base is None or least is None or keys != SOME_KEYS:
            continue
        beside = "Spark" if case.shape in NATIVE else "count by key"
        what = f"rows/s x {beside}, {case.work}, {case.store}, {keys:,} keys"
        found.append(Goal(what, result.rows_per_second / base.rows_per_second, least=least))
    for case, few, many in growing(results):
        if case.store is not None and (few.feed.keys, many.feed.keys) == (FEW_KEYS, MANY_KEYS):
            what = f"CPU/row from {FEW_KEYS:,} to {MANY_KEYS:,} keys, {case.work}, {case.store}"
            found.append(Goal(what, many.cpu_us / few.cpu_us, most=MOST_GROWTH))
    return found


def rival(results: Results, case: Case, keys: int) -> Result[Case, Feed] | None:
    """Return what a case is compared with, if it was measured: itself, if it is the one to beat."""
    native = case.rival in NATIVE
    return results.get((Case(case.rival, None if native else case.store), keys))


def growing(results: Results) -> Sequence[tuple[Case, Result[Case, Feed], Result[Case, Feed]]]:
    """Return the results of each case at the fewest and at the most keys, if they differ."""
    found = []
    for case in dict.fromkeys(case for case, _ in results):
        numbers = sorted(keys for one, keys in results if one == case)
        if len(numbers) > 1:
            found.append((case, results[case, numbers[0]], results[case, numbers[-1]]))
    return found
