"""The measured batches of one of the kernel's cases."""

from __future__ import annotations

from benchmarks import rounds
from benchmarks.kernel.cases import Case
from benchmarks.kernel.data import Feed

Result = rounds.Result[Case, Feed]
