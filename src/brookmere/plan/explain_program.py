"""Explains the plan of a program without running it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from brookmere.dsl.base_builder import Builder
from brookmere.plan.explain import explain as explain_plan
from brookmere.plan.explain import to_json, to_mermaid
from brookmere.plan.stages import plan
from brookmere.topology.nodes import SourceNode, Topology

_FORMS = {"text": explain_plan, "json": to_json, "mermaid": to_mermaid}


def explain(
    program: Builder | Topology,
    *,
    partitions: int | Mapping[str, int] = 1,
    form: Literal["text", "json", "mermaid"] = "text",
    optimization: str | Sequence[str] = "none",
) -> str:
    """Return the stages that a program runs in, with their operators, stores and exchanges.

    `partitions` counts the partitions of the topics that are read, all alike or by name. `optimization` is as
    in `topology.optimization`; the text then lists what each rule has changed.

    >>> import brookmere as bm
    >>> app = bm.StreamsBuilder("words", key=bm.Text(), value=bm.Text())
    >>> app.stream("in").group_by_key().count(store="counts").to_stream().to("out")
    >>> print(explain(app, partitions=4).splitlines()[0])
    Application words: 2 stages, 4 tasks, one Spark query
    """
    topology = program.build(optimization=optimization) if isinstance(program, Builder) else program
    sources = [n for n in topology.nodes if isinstance(n, SourceNode) and not n.internal]
    topics = [topic for node in sources for topic in node.topics]
    counts = dict.fromkeys(topics, partitions) if isinstance(partitions, int) else partitions
    return _FORMS[form](plan(topology, counts))
