"""Merge the repartitions after one change of keys into a single one directly after the change."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from brookmere.dsl.graph.graph import Graph, nearest_above
from brookmere.dsl.graph.steps import RepartitionStep, Step, repartition_step
from brookmere.serde import Serde

NAME = "merge.repartition.topics"

Changers = dict[Step, dict[RepartitionStep, None]]


def merge_repartitions(graph: Graph) -> Graph:
    """Replace the repartitions of each key-changing step, or of the merge after several of them."""
    replaced: set[RepartitionStep] = set()
    for changer, steps in _with_merges(graph).items():
        replaceable = _replaceable(changer, [step for step in steps if step not in replaced])
        if replaceable:
            _replace(graph, changer, replaceable)
            replaced.update(replaceable)
    graph.key_changers = {}
    return graph


def _with_merges(graph: Graph) -> Changers:
    """Let a merge represent the key changers upstream whose repartitions are all below it."""
    above: dict[Step, list[Step]] = {
        merge: [
            changer
            for changer, steps in graph.key_changers.items()
            if all(_child_on_the_way(merge, step) for step in steps) and _child_on_the_way(changer, merge)
        ]
        for merge in graph.merges
    }
    changers = dict(graph.key_changers)
    # Of consecutive merges the last one counts: after it, all records are in one stream.
    for merge, covered in reversed(above.items()):
        changers[merge] = {step: None for changer in covered for step in graph.key_changers[changer]}
    for changer in {changer for covered in above.values() for changer in covered}:
        del changers[changer]
    return changers


def _child_on_the_way(ancestor: Step, step: Step) -> Step | None:
    return nearest_above(step, lambda candidate: ancestor in candidate.parents)


def _replaceable(changer: Step, steps: list[RepartitionStep]) -> list[RepartitionStep]:
    """Exclude steps that would receive records with a changed key past the new repartition."""
    while True:
        children = {_child_on_the_way(changer, step) for step in steps}
        safe = [step for step in steps if _covered(step, changer, children)]
        if len(safe) == len(steps):
            return safe
        steps = safe


def _covered(step: Step, changer: Step, children: Collection[Step | None]) -> bool:
    seen: set[Step] = set()
    waiting = [step]
    while waiting:
        below = waiting.pop()
        if below in seen:
            continue
        seen.add(below)
        for parent in below.parents:
            if parent is changer and below in children:
                continue
            if parent is changer or parent.key_changing or parent.may_change_keys:
                return False
            if not isinstance(parent, RepartitionStep):
                waiting.append(parent)
    return True


def _replace(graph: Graph, changer: Step, steps: list[RepartitionStep]) -> None:
    single = repartition_step(
        graph.names.repartition(steps[0].topic),
        steps[0].location,
        key=_first(step.key for step in steps),
        value=_first(step.value for step in steps),
    )
    single.priority = changer.priority
    merged = ", ".join(step.topic for step in steps)
    verb = "moved up" if len(steps) == 1 else f"became {single.topic}"
    graph.rewrote(NAME, f"{merged} {verb}, directly after {changer.name}")
    for step in steps:
        child = _child_on_the_way(changer, step)
        # None is left if an earlier step shares the path and was already moved.
        if child is not None:
            single.add_child(child)
            changer.remove_child(child)
        _take_out(step)
        graph.rename_copartitioned(step.name, single.name)
    changer.add_child(single)


def _take_out(step: Step) -> None:
    parents = list(step.parents)
    for child in list(step.children):
        for parent in parents:
            parent.add_child(child)
        step.remove_child(child)
    for parent in parents:
        parent.remove_child(step)


def _first(serdes: Iterable[Serde | None]) -> Serde | None:
    return next((serde for serde in serdes if serde is not None), None)
