"""The error of Python processors that share a store across a kernel node."""

from __future__ import annotations

from collections.abc import Iterable

from brookmere.errors import Fault, TopologyError
from brookmere.topology.nodes import ProcessorNode, Topology
from brookmere.topology.python_code import is_python
from brookmere.topology.validation import place


def kernel_between(topology: Topology, steps: Iterable[tuple[str, str]]) -> TopologyError:
    """Return the error of Python processors that share a store, while `steps` leave Python and come back."""
    names = {name for step in steps for name in step}
    processors = [n for n in topology.nodes if isinstance(n, ProcessorNode) and n.name in names]
    between = [node for node in processors if not is_python(node)] or processors
    sharing = [node for node in processors if is_python(node) and node.stores]
    stores = sorted({store for node in sharing for store in node.stores if _users(topology, store) > 1})
    what = (
        f"The Python processors {_listed(node.name for node in sharing)} share {_noun('store', stores)}, "
        f"and {_listed(node.name for node in between)} between them cannot run in their stage"
    )
    remedy = (
        "Make the steps between them Python functions of one record, or give each processor a store "
        "of its own"
    )
    return TopologyError([Fault(what, place(None, between[0].location), remedy)])


def _users(topology: Topology, store: str) -> int:
    return sum(isinstance(node, ProcessorNode) and store in node.stores for node in topology.nodes)


def _listed(names: Iterable[str]) -> str:
    *most, last = list(names) or ["?"]
    return f"{', '.join(most)} and {last}" if most else last


def _noun(noun: str, names: list[str]) -> str:
    return f"the {noun}{'' if len(names) == 1 else 's'} {_listed(repr(name) for name in names)}"
