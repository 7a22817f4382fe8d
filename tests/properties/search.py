"""Searches for examples that break a property, in rounds: each has a number and always tries the same ones.

`BROOKMERE_ROUNDS=1000:50` searches in the fifty rounds from number 1000 instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

# From the tenth example on, Hypothesis tries variations of those it had: mostly the same program again.
_ROUND = settings(
    max_examples=9,
    database=None,
    deadline=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def rounds(count: int) -> range:
    """Return the numbers of the rounds to search in."""
    first, _, wanted = os.environ.get("BROOKMERE_ROUNDS", f"0:{count}").partition(":")
    return range(int(first), int(first) + int(wanted or 1))


def search(
    number: int, *, shrink: bool = True, **strategies: st.SearchStrategy[object]
) -> Callable[[Callable[..., None]], None]:
    """Run the decorated property at once, on the examples of a round.

    `shrink=False` shows a failing example as it was found, where a single one takes seconds.
    """

    def run(holds: Callable[..., None]) -> None:
        chosen = _ROUND if shrink else settings(_ROUND, phases=[Phase.generate])
        seed(number)(chosen(given(**strategies)(holds)))()

    return run
