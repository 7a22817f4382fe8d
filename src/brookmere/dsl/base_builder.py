"""The base class of all builders of programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from brookmere.dsl.graph.graph import Graph
from brookmere.errors import TopologyError
from brookmere.topology.nodes import Topology
from brookmere.topology.validation import validate


def checked(topology: Topology, graph: Graph) -> Topology:
    """Return the topology if it has no faults.

    Raises:
        TopologyError: the program has faults; the error lists all of them.
    """
    faults = [*graph.faults, *validate(topology), *graph.stores.unused(topology)]
    if faults:
        raise TopologyError(faults)
    return topology


class Builder(ABC):
    """A program under construction. Applications, test drivers and the command line accept any builder."""

    application_id: str

    @abstractmethod
    def build(self, *, optimization: str | Sequence[str] = "none") -> Topology:
        """Return the current topology.

        Raises:
            TopologyError: the program has faults; the error lists all of them.
        """

    def describe(self, *, optimization: str | Sequence[str] = "none") -> str:
        """Return Kafka Streams' text form of the topology."""
        return self.build(optimization=optimization).describe()
