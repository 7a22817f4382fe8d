"""suppress(): how long updates are held back, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import brookmere as bm
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.operators import Suppress, TableFilter, TableSource, WindowAggregate
from tests.topology.programs import any_function, builder


def windowed_count(app: bm.StreamsBuilder, windows: Any, topic: str = "in") -> bm.KTable:
    return app.stream(topic).group_by_key().windowed_by(windows).count()


def nodes_with(app: bm.StreamsBuilder, kind: type) -> list[ProcessorNode]:
    nodes = [node for node in app.build().nodes if isinstance(node, ProcessorNode)]
    return [node for node in nodes if isinstance(node.operator, kind)]


def suppress_of(app: bm.StreamsBuilder) -> Suppress:
    (node,) = nodes_with(app, Suppress)
    assert isinstance(node.operator, Suppress)
    return node.operator


@pytest.mark.parametrize(
    ("windows", "wait"),
    [
        (bm.TimeWindows("10ms", grace="5ms"), 5),
        (bm.SlidingWindows("10ms", grace="5ms"), 5),
        (bm.SessionWindows("10ms", grace="5ms"), 15),
        (bm.UnlimitedWindows(), 0),
    ],
)
def test_window_closes_when_its_grace_is_over(windows: Any, wait: int) -> None:
    app = builder()
    windowed_count(app, windows).suppress(bm.until_window_closes())

    found = suppress_of(app)

    assert found.until_window_closes
    assert found.wait_ms == wait
    assert found.stop_when_full


def test_grace_is_found_upstream_of_filters_and_streams() -> None:
    app = builder()
    counts = (
        windowed_count(app, bm.TimeWindows("10ms", grace="7ms")).filter(any_function).map_values(any_function)
    )
    counts.to_stream().to_table().suppress(bm.until_window_closes())

    assert suppress_of(app).wait_ms == 7


def test_longest_grace_of_several_windows_counts() -> None:
    app = builder()
    short = windowed_count(app, bm.TimeWindows("10ms", grace="2ms"), "short").to_stream()
    long = windowed_count(app, bm.TimeWindows("10ms", grace="9ms"), "long").to_stream()
    short.merge(long).to_table().suppress(bm.until_window_closes())

    assert suppress_of(app).wait_ms == 9


@pytest.mark.parametrize(
    "table",
    [
        lambda app: app.table("in"),
        lambda app: app.stream("in").group_by_key().count(),
        lambda app: windowed_count(app, bm.TimeWindows("10ms")).to_stream(any_function).to_table(),
        lambda app: windowed_count(app, bm.TimeWindows("10ms")).group_by(any_function).count(),
    ],
    ids=["table", "count", "other key", "other group"],
)
def test_table_without_windows_cannot_wait_for_their_close(
    table: Callable[[bm.StreamsBuilder], bm.KTable],
) -> None:
    app = builder()
    table(app).suppress(bm.until_window_closes())

    with pytest.raises(bm.errors.TopologyError, match="needs a windowed table, found K"):
        app.build()


def test_time_limit_holds_any_table_back() -> None:
    app = builder()
    app.table("in").suppress(bm.until_time_limit(timedelta(seconds=5), max_records=3, max_bytes=99))

    found = suppress_of(app)

    assert not found.until_window_closes
    assert found.wait_ms == 5000
    assert (found.max_records, found.max_bytes) == (3, 99)
    assert not found.stop_when_full


def test_full_buffer_may_stop_the_application() -> None:
    app = builder()
    app.table("in").suppress(bm.until_time_limit("5ms", max_records=3, when_full="stop"))

    assert suppress_of(app).stop_when_full


def test_rows_can_be_sent_when_updates_stop_arriving() -> None:
    app = builder()
    app.table("in").suppress(bm.until_time_limit("5ms"), close_idle_after=timedelta(seconds=2))

    assert suppress_of(app).close_idle_ms == 2000


def test_names_are_those_of_kafka_streams() -> None:
    app = builder()
    table = app.table("in", store="kept")
    table.suppress(bm.until_time_limit("5ms"))
    table.suppress(bm.until_time_limit("5ms"), name="slow")

    numbered, named = nodes_with(app, Suppress)

    assert (numbered.name, numbered.stores) == (
        "KTABLE-SUPPRESS-0000000002",
        ("KTABLE-SUPPRESS-STATE-STORE-0000000003",),
    )
    assert (named.name, named.stores) == ("slow", ("slow-store",))
    assert [store.kind for store in app.build().stores] == ["key_value", "suppressed", "suppressed"]


def test_table_upstream_sends_old_values_and_gets_a_store() -> None:
    app = builder()
    app.table("in").filter(any_function).suppress(bm.until_time_limit("5ms"))
    windowed_count(app, bm.TimeWindows("5ms"), "other").suppress(bm.until_window_closes())

    (source,) = nodes_with(app, TableSource)
    (filtered,) = nodes_with(app, TableFilter)
    (windows,) = nodes_with(app, WindowAggregate)

    assert isinstance(source.operator, TableSource)
    assert source.operator.send_old
    assert source.stores == ("in-STATE-STORE-0000000000",)
    assert isinstance(filtered.operator, TableFilter)
    assert filtered.operator.send_old
    assert isinstance(windows.operator, WindowAggregate)
    assert windows.operator.send_old


def test_suppressed_table_has_no_store_to_query() -> None:
    table = builder().table("in", store="kept").suppress(bm.until_time_limit("5ms"))

    assert table.queryable_store_name is None


def test_versioned_table_is_refused() -> None:
    app = builder()
    versioned = app.table("in", store="kept", history=timedelta(days=1))
    versioned.filter(any_function).suppress(bm.until_time_limit("5ms"))

    with pytest.raises(bm.errors.TopologyError, match="A versioned table cannot be suppressed"):
        app.build()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bm.until_window_closes(when_full="emit"), "sends final results only"),
        (lambda: bm.until_window_closes(max_records=-1), "max_records must be an integer"),
        (lambda: bm.until_time_limit("5ms", max_bytes=True), "max_bytes must be an integer"),
        (lambda: bm.until_time_limit("5ms", when_full="wait"), "There is no when_full='wait'"),  # type: ignore[arg-type]
        (lambda: bm.until_time_limit("-5ms"), "duration of until_time_limit must not be negative"),
        (lambda: builder().table("in").suppress(5), "needs a time limit or the close of a window, found 5"),  # type: ignore[arg-type]
    ],
)
def test_wrong_arguments_are_refused(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(bm.errors.TopologyError, match=message):
        call()
