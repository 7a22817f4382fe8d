"""The names that Kafka Streams generates for nodes, stores and repartitions."""

from __future__ import annotations

import re
from dataclasses import dataclass

_REPARTITION = "-repartition"
_GENERATED = re.compile(r"KSTREAM.*-[0-9]{10}", re.ASCII)


@dataclass(frozen=True, slots=True)
class RepartitionNames:
    """The names of an internal topic and of the nodes around it."""

    topic: str
    filter: str
    sink: str
    source: str


@dataclass(slots=True)
class Names:
    """One counter for all generated names of a program.

    A given name takes a number, too: naming one operator never renames the others.
    """

    next: int = 0

    def generate(self, prefix: str) -> str:
        """Return the next name of this prefix."""
        name = f"{prefix}{self.next:010d}"
        self.next += 1
        return name

    def choose(self, given: str | None, prefix: str, suffix: str = "") -> str:
        """Return the given name with its suffix, or else a generated one."""
        generated = self.generate(prefix)
        return generated if given is None else given + suffix

    def store(self, given: str | None, prefix: str) -> str:
        """Return the given name of a store, which takes no number, or else a generated one."""
        return self.generate(f"{prefix}STATE-STORE-") if given is None else given

    def repartition(self, prefix: str) -> RepartitionNames:
        """Return the names that belong to the repartition topic of `prefix`."""
        topic = prefix if prefix.endswith(_REPARTITION) else prefix + _REPARTITION
        sink = self.generate("KSTREAM-SINK-")
        filter = self.generate("KSTREAM-FILTER-")
        source = self.generate("KSTREAM-SOURCE-")
        if _GENERATED.fullmatch(prefix):
            return RepartitionNames(topic, filter, sink, source)
        return RepartitionNames(topic, f"{topic}-filter", f"{topic}-sink", f"{topic}-source")
