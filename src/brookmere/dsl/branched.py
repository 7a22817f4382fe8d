"""BranchedKStream: a stream that is being split into branches."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from brookmere.dsl.functions.user_functions import BRANCH, Given, code_of
from brookmere.dsl.graph.steps import ProcessorStep
from brookmere.topology.function import here
from brookmere.topology.operators import Branch, PassThrough
from brookmere.topology.python_code import PythonFunction

if TYPE_CHECKING:
    from brookmere.dsl.stream import KStream


@dataclass(eq=False)
class BranchedKStream:
    """The branches of a split so far. End with `default_branch` or `no_default_branch`.

    >>> import brookmere as bm
    >>> app = bm.StreamsBuilder("shop", key=bm.Text(), value=bm.Text())
    >>> sizes = app.stream("orders").split(name="size-").branch(lambda v: v == "L", name="large")
    >>> list(sizes.default_branch())
    ['size-large', 'size-0']
    """

    _source: KStream
    _step: ProcessorStep
    _branches: dict[str, KStream] = field(default_factory=dict)
    _ended: bool = False

    def branch(self, predicate: Given, *, name: str | None = None) -> BranchedKStream:
        """Add a branch for the records that `predicate` accepts and no earlier branch did."""
        test = code_of(self._source._graph, "predicate of branch", predicate, BRANCH)
        operator = self._operator()
        if len({isinstance(each, PythonFunction) for each in (*operator.predicates, test)}) > 1:
            self._source._graph.fault(
                "A split mixes Python predicates with predicates over Columns",
                "Wrap all of them in brookmere.python(...), or none",
            )
        child = self._child(name, len(operator.predicates) + 1)
        self._step.operator = Branch((*operator.predicates, test), (*operator.children, child))
        return self

    def default_branch(self, *, name: str | None = None) -> dict[str, KStream]:
        """Add a branch for all other records, and return the branches by name."""
        operator = self._operator()
        child = self._child(name, 0)
        self._step.operator = Branch(operator.predicates, (*operator.children, child), default=child)
        return self.no_default_branch()

    def no_default_branch(self) -> dict[str, KStream]:
        """Drop all other records, and return the branches by name."""
        self._ended = True
        return dict(self._branches)

    def _operator(self) -> Branch:
        if self._ended:
            self._source._graph.fault("A split was continued after its last branch", "Call split() again")
        operator = self._step.operator
        return operator if isinstance(operator, Branch) else Branch((), ())

    def _child(self, name: str | None, number: int) -> str:
        graph = self._source._graph
        graph.check_name("branch", name)
        child = f"{self._step.name}{number if name is None else name}"
        graph.names.generate(child)
        step = ProcessorStep(name=child, location=here(), operator=PassThrough())
        graph.add(step, self._step)
        self._branches[child] = replace(self._source, _step=step)
        return child
