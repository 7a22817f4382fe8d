"""Says what every way of writing a program can do: become a topology."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from brookmere.dsl.graph.graph import Graph
from brookmere.errors import TopologyError
from brookmere.topology.nodes import Topology
from brookmere.topology.validation import validate


def checked(topology: Topology, graph: Graph) -> Topology:
    """Return a topology that has no faults.

    Raises:
        TopologyError: the program is wrong; the error lists every fault.
    """
    faults = [*graph.faults, *validate(topology), *graph.stores.unused(topology)]
    if faults:
        raise TopologyError(faults)
    return topology


class Builder(ABC):
    """A program that can still grow. An application, a test driver and the command line take each kind."""

    application_id: str

    @abstractmethod
    def build(self, *, optimization: str | Sequence[str] = "none") -> Topology:
        """Return the topology as it is now.

        Raises:
            TopologyError: the program is wrong; the error lists every fault.
        """

    def describe(self, *, optimization: str | Sequence[str] = "none") -> str:
        """Return Kafka Streams' text form of the topology."""
        return self.build(optimization=optimization).describe()
