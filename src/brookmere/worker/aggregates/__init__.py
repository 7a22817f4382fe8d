"""Folds records by the user's Python functions: what aggregate, reduce and their windows do in the worker."""

from brookmere.worker.aggregates.definitions import FOREVER, Emission, Fold, Start, UserCode
from brookmere.worker.aggregates.session_windows import SessionWindowsWork
from brookmere.worker.aggregates.sliding_windows import SlidingWindowsWork
from brookmere.worker.aggregates.tables import TableAggregateWork
from brookmere.worker.aggregates.time_windows import TimeWindowsWork
from brookmere.worker.aggregates.unwindowed import AggregateWork

__all__ = [
    "FOREVER",
    "AggregateWork",
    "Emission",
    "Fold",
    "SessionWindowsWork",
    "SlidingWindowsWork",
    "Start",
    "TableAggregateWork",
    "TimeWindowsWork",
    "UserCode",
]
