"""The sink that `late_to=` adds for dropped records."""

from __future__ import annotations

from brookmere.dsl.arguments.checks import refuse
from brookmere.dsl.graph.graph import Graph
from brookmere.dsl.graph.steps import SinkStep, Step
from brookmere.serde import Serde
from brookmere.topology.function import here


def late_topic(graph: Graph, topic: str | None) -> str | None:
    """Check the topic for dropped records."""
    if topic is not None and not isinstance(topic, str):
        refuse(f"late_to must name a topic, found {topic!r}", "Pass the name of a topic or None")
    if topic is not None:
        graph.check_name("topic", topic)
    return topic


def late_name(node: str) -> str:
    """Return the name of the sink for dropped records; it uses no number, so no other name changes."""
    return f"{node}-late"


def send_late(graph: Graph, step: Step, topic: str | None, key: Serde | None, value: Serde | None) -> None:
    """Send the records that `step` drops to a topic, as the step received them."""
    if topic is None:
        return
    sink = SinkStep(name=late_name(step.name), location=here(), topic=topic, key=key, value=value, late=True)
    graph.add(sink, step)
