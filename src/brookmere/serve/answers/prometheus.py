"""Metrics in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Samples = list[tuple[Mapping[str, str], float]]


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with one value, or one value per set of labels."""

    name: str
    help: str
    kind: Literal["gauge", "counter"] = "gauge"
    samples: Samples = field(default_factory=list)

    def add(self, value: float, **labels: str) -> None:
        """Add the value for a set of labels."""
        self.samples.append((labels, value))


def exposition(metrics: Iterable[Metric]) -> str:
    """Return the text of metrics; metrics without values are omitted.

    >>> lag = Metric("lag", "Missing records.")
    >>> lag.add(3, store="totals")
    >>> print(exposition([lag]), end="")
    # HELP lag Missing records.
    # TYPE lag gauge
    lag{store="totals"} 3
    """
    lines: list[str] = []
    for metric in metrics:
        if not metric.samples:
            continue
        lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}"]
        lines += [f"{metric.name}{_labels(labels)} {value}" for labels, value in metric.samples]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(text)}"' for name, text in labels.items()) + "}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
