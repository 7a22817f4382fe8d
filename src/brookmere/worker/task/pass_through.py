"""A node between Python nodes that hands records on as they are: a merge, or the child of a branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from brookmere.worker.protocol.stage_code import NodeCode, Running, Runtime
from brookmere.worker.task.output import Output


@dataclass(frozen=True, slots=True)
class PassWork:
    """Hands on every record."""

    def build(self, node: NodeCode, runtime: Runtime) -> Running:
        """Return the node, running on one task."""
        return _Passing(runtime.output(node))


class _Passing(Running):
    def __init__(self, out: Output) -> None:
        self._out = out

    def receive(self, key: Any, value: Any, ts: int, headers: Any) -> None:
        self._out.forward(key, value, ts, headers)
