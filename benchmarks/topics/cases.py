"""The cases from topic to topic: whole, or cut short to see what the parts cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pyspark.sql import functions as F

import brookmere as bm
from benchmarks.orders import LEAST_QUANTITY, ORDER, PROJECTED
from benchmarks.topics.workloads import Workload

Engine = Literal["Brookmere", "PySpark", "Python loop"]
Emit = Literal["last", "every"]
Step = Literal["read", "bytes", "copy", "drop", "work", "exchange", "encode", "whole"]
"""What Brookmere does before it drops all records: only reading (as rows, or as a topology of bytes),
decoding, stateless work, and an exchange. `copy` and `encode` write all of them."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is measured."""

    workload: Workload
    engine: Engine
    emit: Emit = "last"
    step: Step = "whole"

    @property
    def by(self) -> str:
        """Who does it, as shown to people."""
        if self.step != "whole":
            return f"Brookmere, only {self.step}"
        if self.engine != "Brookmere" or not self.workload.counts:
            return self.engine
        return "Brookmere" if self.emit == "last" else "Brookmere, every update"

    @property
    def name(self) -> str:
        """The name shown to people."""
        return f"{self.workload.name}: {self.by}"


def rivals(workload: Workload) -> list[Case]:
    """Return the cases that run a whole workload."""
    every = [Case(workload, "Brookmere", "every")] if workload.counts else []
    return [
        Case(workload, "PySpark"),
        Case(workload, "Brookmere"),
        *every,
        Case(workload, "Python loop"),
    ]


def rungs(workload: Workload) -> list[Case]:
    """Return the cases that show what the parts of a workload cost."""
    steps: dict[str, tuple[Step, ...]] = {
        "words": ("read", "drop", "work", "exchange"),
        "keys": ("read", "drop", "exchange", "encode", "bytes", "copy"),
        "orders": ("read", "drop", "work"),
        "projected": ("bytes", "copy"),
    }
    return [Case(workload, "Brookmere", step=step) for step in steps[workload.kind]]


def topology(case: Case, out: str) -> bm.Topology:
    """Return the topology of one of Brookmere's cases, writing to the topic `out`."""
    app = bm.StreamsBuilder("bench", key=bm.Text(), value=bm.Bytes())
    if case.step in ("bytes", "copy"):
        copied = app.stream(case.workload.topic, key=bm.Bytes())
        if case.step == "bytes":
            copied = copied.filter(lambda value: value.isNull())
        copied.to(out, key=bm.Bytes())
    elif case.workload.kind == "words":
        _words(case, app, out)
    elif case.workload.kind == "keys":
        _keys(case, app, out)
    else:
        _orders(case, app, out)
    return app.build()


def _words(case: Case, app: bm.StreamsBuilder, out: str) -> None:
    lines = app.stream(case.workload.topic, value=bm.Text())
    if case.step == "drop":
        lines.filter(lambda line: line.isNull()).to(out, value=bm.Text())
        return
    words = lines.flat_map_values(lambda line: F.split(F.lower(line), " "))
    if case.step == "whole":
        counts = words.group_by(lambda _, word: word).count()
        counts.to_stream().to(out, value=bm.Long())
        return
    words = words.select_key(lambda _, word: word)
    if case.step == "exchange":
        words = words.repartition(key=bm.Text())
    words.filter(lambda word: word.isNull()).to(out, value=bm.Text())


def _keys(case: Case, app: bm.StreamsBuilder, out: str) -> None:
    records = app.stream(case.workload.topic)
    if case.step == "whole":
        records.group_by_key().count().to_stream().to(out, value=bm.Long())
    elif case.step == "encode":
        records.map_values(lambda value: F.length(value).cast("long")).to(out, value=bm.Long())
    else:
        if case.step == "exchange":
            records = records.repartition()
        records.filter(lambda value: value.isNull()).to(out)


def _orders(case: Case, app: bm.StreamsBuilder, out: str) -> None:
    orders = app.stream(case.workload.topic, value=bm.Json(ORDER))
    if case.step == "drop":
        orders.filter(lambda order: order["quantity"] < 0).to(out)
        return
    projected = orders.filter(lambda order: order["quantity"] >= LEAST_QUANTITY).map_values(
        lambda order: F.struct(
            order["order"].alias("order"),
            order["customer"].alias("customer"),
            (order["quantity"] * order["price"]).alias("total"),
        )
    )
    if case.step == "work":
        projected = projected.filter(lambda order: order["total"] < 0)
    projected.to(out, value=bm.Json(PROJECTED))
