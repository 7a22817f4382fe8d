"""Shows a plan as text, JSON or a Mermaid flow chart."""

from __future__ import annotations

import json
from typing import Any

from brookmere.plan.stages import Plan, Stage
from brookmere.topology.durations import duration_text
from brookmere.topology.nodes import Node, ProcessorNode, SinkNode, SourceNode, Store
from brookmere.topology.windows import FOREVER

_KEPT = {
    "window": "windows",
    "session": "sessions",
    "versioned": "versions",
    "join_window": "records",
    "seen": "times",
}


def explain(plan: Plan) -> str:
    """Return the stages with their operators, stores and exchanges as text, and what was optimized."""
    tasks = plan.tasks
    size = f"{_count(len(plan.stages), 'stage')}, {_count(tasks, 'task')}"
    lines = [f"Application {plan.topology.application_id}: {size}, one Spark query"]
    for stage in plan.stages:
        lines.append("")
        if stage.exchange:
            lines.append(f"Exchange by task ({_count(tasks, 'task')})")
        lines.append(f"{_title(stage)}: {_way(plan, stage)}")
        lines += [f"  {label:<10}{text}" for label, text in _facts(plan, stage)]
    if plan.topology.rewrites:
        lines += ["", "Optimized by"]
        lines += [f"  {rewrite.rule}: {rewrite.what}" for rewrite in plan.topology.rewrites]
    return "\n".join(lines) + "\n"


def to_json(plan: Plan) -> str:
    """Return the plan as JSON, for tools."""
    stores = {store.name: store for store in plan.topology.stores}
    stages: list[dict[str, Any]] = [
        {
            "number": stage.number,
            "nodes": [node.name for node in stage.nodes],
            "stores": [{"name": name, "type": stores[name].store_type} for name in stage.stores],
            "python": stage.is_python,
            "exchange": stage.exchange,
        }
        for stage in plan.stages
    ]
    document = {
        "application": plan.topology.application_id,
        "tasks": plan.tasks,
        "partitions": dict(plan.partitions),
        "stages": stages,
        "optimized": [{"rule": rewrite.rule, "what": rewrite.what} for rewrite in plan.topology.rewrites],
    }
    return json.dumps(document, indent=2)


def to_mermaid(plan: Plan) -> str:
    """Return the stages as a Mermaid flow chart with one box per stage."""
    number = {node.name: i for i, node in enumerate(plan.topology.nodes)}
    lines = ["flowchart TD"]
    for stage in plan.stages:
        lines.append(f'  subgraph stage{stage.number}["{_title(stage)}"]')
        lines += [f'    n{number[node.name]}["{_operator(node)}"]' for node in stage.nodes]
        lines.append("  end")
    stage_of = plan.stage_of()
    chain_of = {stage: number for number, chain in enumerate(plan.chains) for stage in chain}
    for node in plan.topology.nodes:
        parents = () if isinstance(node, SourceNode) else node.parents
        for parent in parents:
            travels = chain_of[stage_of[parent]] != chain_of[stage_of[node.name]]
            arrow = "-. by task .->" if travels else "-->"
            lines.append(f"  n{number[parent]} {arrow} n{number[node.name]}")
        if isinstance(node, SourceNode) and node.internal:
            senders = [s for s in plan.topology.nodes if isinstance(s, SinkNode) and s.topic in node.topics]
            lines += [f"  n{number[s.name]} -. by key .-> n{number[node.name]}" for s in senders]
    return "\n".join(lines) + "\n"


def _title(stage: Stage) -> str:
    return f"Stage {stage.number}{', Python' if stage.is_python else ''}"


def _way(plan: Plan, stage: Stage) -> str:
    """Return how the records of a stage are partitioned, and what runs it."""
    if plan.chain_of(stage.number) == 0:
        return f"per source partition, {'no exchange before it' if stage.number else 'stateless'}"
    return f"per task, {'transformWithState' if stage.exchange else 'no exchange before it'}"


def _facts(plan: Plan, stage: Stage) -> list[tuple[str, str]]:
    stores = {store.name: store for store in plan.topology.stores}
    facts: list[tuple[str, str]] = []
    for node in stage.nodes:
        if isinstance(node, SourceNode):
            topics = plan.topics_of(node)
            named = ", ".join(f"{t} ({_count(plan.partitions[t], 'partition')})" for t in topics)
            facts.append(("receives" if node.internal else "reads", named))
        elif isinstance(node, ProcessorNode):
            facts.append(("runs", _operator(node)))
        elif node.internal:
            facts.append(("sends", f"{node.topic}, by key"))
        else:
            facts.append(("writes", node.topic if isinstance(node.topic, str) else "a topic per record"))
    facts += [("keeps", f"{name} ({_store(stores[name])})") for name in stage.stores]
    return facts


def _store(store: Store) -> str:
    """Return a store's type, and how long it keeps its rows."""
    if store.kind not in _KEPT or store.retention_ms is None:
        return store.store_type
    kept = "forever" if store.retention_ms >= FOREVER else f"for {duration_text(store.retention_ms)}"
    return f"{store.store_type}, {_KEPT[store.kind]} kept {kept}"


def _operator(node: Node) -> str:
    if isinstance(node, ProcessorNode):
        return f"{node.name} [{node.operator.text}]"
    return node.name


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
