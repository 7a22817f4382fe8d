"""The stores of processors that a program has declared, and those of its global tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from brookmere.dsl.processors.state_stores import StoreBuilder
from brookmere.errors import Fault
from brookmere.topology.function import here
from brookmere.topology.nodes import Store, Topology


@dataclass(slots=True)
class KnownStores:
    """Stores by name. A store is one object, shared by all its processors."""

    kept: dict[str, Store] = field(default_factory=dict)
    builders: dict[str, StoreBuilder] = field(default_factory=dict)
    of_global_tables: set[str] = field(default_factory=set)

    def add(self, builder: StoreBuilder) -> Fault | None:
        """Declare a store; return the fault if another one has its name."""
        known = self.builders.setdefault(builder.name, builder)
        if known is builder:
            self.kept[builder.name] = builder.store()
        if known == builder:
            return None
        what = f"Two different stores are named {builder.name!r}, the other one at {known.location}"
        return Fault(what, str(here()), "Give each store its own name, or use one builder for both")

    def unused(self, topology: Topology) -> list[Fault]:
        """Return a fault for each declared store that no processor uses."""
        used = {store.name for store in topology.stores}
        return [
            Fault(
                f"No processor uses the store {name!r}",
                str(builder.location),
                f"Pass stores=[{name!r}] to a processor",
            )
            for name, builder in self.builders.items()
            if name not in used
        ]
