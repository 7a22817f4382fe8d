"""How many examples the properties try: the same ones in every run.

`BROOKMERE_EXAMPLES=10` tries ten times as many, and others each time.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

_TIMES = int(os.environ.get("BROOKMERE_EXAMPLES", "0"))


def examples(count: int, *, shrink: bool = True) -> settings:
    """Return settings for so many examples; `shrink=False` where a single example takes seconds."""
    phases = [Phase.explicit, Phase.generate, *([Phase.shrink] if shrink else [])]
    return settings(
        max_examples=count * max(_TIMES, 1),
        derandomize=_TIMES == 0,
        database=None,
        deadline=None,
        phases=phases,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
