"""Says what every way of writing a program can do: become a topology."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from brookmere.topology.nodes import Topology


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
