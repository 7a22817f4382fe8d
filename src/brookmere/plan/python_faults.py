"""Turns a topology into the list of what Python code in it cannot do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from brookmere.errors import Fault, TopologyError
from brookmere.plan.keeping import kept
from brookmere.topology.nodes import ProcessorNode, Topology
from brookmere.topology.operators import Branch
from brookmere.topology.python_code import is_mixed, is_python
from brookmere.topology.validation import place


def python_faults(topology: Topology) -> list[Fault]:
    """Return the faults of nodes that are half Python, half Columns, and of stores that are."""
    return [*_mixed_nodes(topology), *_mixed_stores(topology)]


def kernel_between(topology: Topology, steps: Iterable[tuple[str, str]]) -> TopologyError:
    """Return the error of Python processors that share a store, while `steps` lead out of Python and back."""
    names = list(dict.fromkeys(name for step in steps for name in step))
    nodes = [topology.node(name) for name in names]
    processors = [node for node in nodes if isinstance(node, ProcessorNode)]
    between = [node for node in processors if not is_python(node)] or processors
    sharing = [node for node in processors if is_python(node) and node.stores]
    stores = sorted({store for node in sharing for store in node.stores if _users(topology, store) > 1})
    what = (
        f"The Python processors {_listed(node.name for node in sharing)} share {_noun('store', stores)}, "
        f"and {_listed(node.name for node in between)} between them cannot run beside them"
    )
    remedy = (
        "Let the steps between them be Python functions of one record, or give each processor a store "
        "of its own"
    )
    return TopologyError([Fault(what, place(None, between[0].location), remedy)])


def _mixed_nodes(topology: Topology) -> Iterator[Fault]:
    for node in topology.nodes:
        if not isinstance(node, ProcessorNode) or not is_mixed(node):
            continue
        where = place(node.name, node.location)
        if isinstance(node.operator, Branch):
            what = "A branch has predicates over Columns and predicates in Python"
            yield Fault(what, where, "Make all of them bm.python(...), or filter the stream first")
        else:
            what = "An aggregate has functions over Columns and functions in Python"
            yield Fault(what, where, "Make all of them bm.python(...), or none of them")


def _mixed_stores(topology: Topology) -> Iterator[Fault]:
    for store in topology.stores:
        keepers = [n for n in topology.nodes if isinstance(n, ProcessorNode) and store.name in kept(n)]
        python = [node for node in keepers if is_python(node)]
        others = [node for node in keepers if not is_python(node)]
        if not python or not others:
            continue
        what = (
            f"The store {store.name!r} is written in Python by {_listed(node.name for node in python)}, "
            f"and without by {_listed(node.name for node in others)}"
        )
        remedy = "Make the functions of all of them bm.python(...), or keep two stores"
        yield Fault(what, place(None, others[0].location), remedy)


def _users(topology: Topology, store: str) -> int:
    return sum(isinstance(node, ProcessorNode) and store in node.stores for node in topology.nodes)


def _listed(names: Iterable[str]) -> str:
    *most, last = list(names) or ["?"]
    return f"{', '.join(most)} and {last}" if most else last


def _noun(noun: str, names: list[str]) -> str:
    return f"the {noun}{'' if len(names) == 1 else 's'} {_listed(repr(name) for name in names)}"
