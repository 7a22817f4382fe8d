"""Calls the Python functions of aggregates; the kernel keeps their rows and knows their windows."""

from brookmere.worker.aggregates.fold_code import FoldCode, FoldFunction, Kind, Start, UserCode
from brookmere.worker.aggregates.fold_stage import FoldStage

__all__ = ["FoldCode", "FoldFunction", "FoldStage", "Kind", "Start", "UserCode"]
