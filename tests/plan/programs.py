"""Programs whose stages are compared with checked-in texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import brookmere as bm
from tests.topology.programs import any_function, builder, word_count


@dataclass(frozen=True)
class Planned:
    """A program, and how many partitions its topics have."""

    build: Callable[[], bm.StreamsBuilder]
    partitions: dict[str, int]


def stateless() -> bm.StreamsBuilder:
    app = builder("stateless")
    sizes = app.stream("in").filter(any_function).split().branch(any_function, name="-large").default_branch()
    for number, branch in enumerate(sizes.values()):
        branch.map_values(any_function).to(f"out-{number}")
    return app


def chained() -> bm.StreamsBuilder:
    app = builder("chained")
    first = app.stream("in").group_by(any_function).count(store="first").to_stream()
    second = first.group_by(any_function).count(store="second").to_stream()
    second.group_by(any_function).count(store="third").to_stream().to("out")
    return app


def mixed() -> bm.StreamsBuilder:
    """One aggregate is fed by a source and by a repartition."""
    app = builder("mixed")
    plain = app.stream("plain").group_by_key()
    rekeyed = app.stream("rekeyed").group_by(any_function, name="by-user")
    table = plain.cogroup(any_function).cogroup(rekeyed, any_function).aggregate(0, store="totals")
    table.to_stream().to("out")
    return app


def table_and_global() -> bm.StreamsBuilder:
    app = builder("tables")
    app.global_table("countries", store="by-code")
    people = app.table("people", store="people", store_type="rocksdb")
    people.filter(any_function).group_by(any_function).count(store="per-group", store_type="memory")
    return app


def fan_out() -> bm.StreamsBuilder:
    """Two levels of which one branch skips the second."""
    app = builder("fan-out")
    counts = app.stream(["a", "b"]).select_key(any_function).repartition("wide", partitions=6)
    counts.to("copies")
    table = counts.group_by_key().count(store="counts")
    table.to_stream().group_by(any_function).reduce(any_function, store="sums").to_stream().to(any_function)
    return app


def windows_and_joins() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("windows", key=bm.Text(), value=bm.Text(), corrections=["window-null-values"])
    orders, payments = app.stream("orders"), app.stream("payments")
    paid = orders.join(payments, any_function, windows=bm.JoinWindows(timedelta(minutes=5), grace="500ms"))
    priced = paid.left_join(app.table("prices"), any_function).group_by_key()
    hopping = bm.TimeWindows(timedelta(hours=1), advance=timedelta(minutes=5), grace=timedelta(minutes=1))
    counts = priced.windowed_by(hopping).count(store="per-hour")
    counts.suppress(bm.until_window_closes(max_records=1000)).to_stream().to("final")
    priced.windowed_by(bm.SessionWindows(timedelta(seconds=30)), emit="close").count(store="visits")
    priced.windowed_by(bm.UnlimitedWindows()).count(store="ever").suppress(bm.until_time_limit("250ms"))
    return app


def python_steps() -> bm.StreamsBuilder:
    """Python code before and behind the first exchange."""
    app = builder("python")
    words = app.stream("in").filter(any_function).map_values(bm.python(_trimmed))
    scored = words.map_values(bm.python(any_function, returns=str, batch="arrow"), name="score").map_values(
        any_function
    )
    counts = scored.group_by(any_function).count(store="counts")
    counts.to_stream().process(_Sweep, stores=[bm.key_value_store("seen", key=str, value=int)]).to("out")
    return app


def _trimmed(value: str) -> str:
    return value


class _Sweep(bm.Processor):
    """Stands for a user's processor where it is never called."""

    def process(self, record: bm.Record) -> None:
        raise NotImplementedError


PLANNED: dict[str, Planned] = {
    "windows_and_joins": Planned(windows_and_joins, {"orders": 2, "payments": 2, "prices": 2}),
    "stateless": Planned(stateless, {"in": 3}),
    "word_count": Planned(word_count, {"lines": 2}),
    "chained": Planned(chained, {"in": 4}),
    "mixed": Planned(mixed, {"plain": 3, "rekeyed": 2}),
    "table_and_global": Planned(table_and_global, {"countries": 2, "people": 1}),
    "python_steps": Planned(python_steps, {"in": 2}),
    "fan_out": Planned(fan_out, {"a": 2, "b": 4}),
}
