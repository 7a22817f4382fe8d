"""Joins with missing or unsupported options are refused."""

from __future__ import annotations

from typing import Any

import pytest

import brookmere as bm
from brookmere.topology.windows import JoinWindows
from tests.topology.programs import any_function, builder

WINDOWS = JoinWindows(before="5ms", after="8ms", grace="2ms")


def refused(error: pytest.ExceptionInfo[bm.errors.TopologyError]) -> str:
    (fault,) = error.value.faults
    return f"{fault.what} | {fault.remedy}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "A join of two streams needs windows=, found None | Pass JoinWindows"),
        ({"windows": 5}, "A join of two streams needs windows=, found 5"),
        ({"windows": WINDOWS, "grace": 5}, "A join with a KStream does not take grace= | It takes windows"),
        ({"windows": WINDOWS, "close_idle_after": 5}, "close_idle_after has no effect in an inner join"),
        ({"windows": WINDOWS, "how": "full"}, "A join with a KStream cannot be 'full' | Use 'inner' or"),
    ],
)
def test_join_of_streams_requires_its_options(options: dict[str, Any], message: str) -> None:
    app = builder()

    with pytest.raises(bm.errors.TopologyError) as error:
        app.stream("l").join(app.stream("r"), any_function, **options)

    assert refused(error).startswith(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"how": "outer"}, "A join with a KTable cannot be 'outer' | Use 'inner' or 'left'"),
        ({"windows": WINDOWS}, "A join with a KTable does not take windows= | It takes grace, late_to, name"),
        ({"store": "kept"}, "A join with a KTable does not take store="),
        ({"grace": "-1ms"}, "The grace of join must not be negative, found -1 ms"),
    ],
)
def test_join_with_a_table_refuses_unsupported_options(options: dict[str, Any], message: str) -> None:
    app = builder()

    with pytest.raises(bm.errors.TopologyError) as error:
        app.stream("l").join(app.table("r"), any_function, **options)

    assert refused(error).startswith(message)


def test_join_with_a_global_table_needs_a_key() -> None:
    app = builder()

    with pytest.raises(bm.errors.TopologyError) as error:
        app.stream("l").join(app.global_table("g"), any_function)

    assert refused(error).startswith("A join with a GlobalKTable needs key= | Pass a function")


def test_join_refuses_anything_but_streams_and_tables() -> None:
    app = builder()

    with pytest.raises(bm.errors.TopologyError) as error:
        app.stream("l").join("r", any_function)  # type: ignore[arg-type]
    assert refused(error).startswith("join() needs a stream or a table, found 'r'")

    with pytest.raises(bm.errors.TopologyError) as error:
        app.table("l").join(app.stream("r"), any_function)  # type: ignore[arg-type]
    assert refused(error).startswith("A table can be joined only with a table, found")


def test_handles_of_two_builders_are_not_joined() -> None:
    app, other = builder(), builder()
    app.stream("l").join(other.table("r"), any_function)
    app.table("t").join(other.table("r"), any_function)

    with pytest.raises(bm.errors.TopologyError) as error:
        app.build()

    assert [fault.what for fault in error.value.faults] == [
        "join() got a stream or table of another StreamsBuilder",
        "join() got a table of another StreamsBuilder",
    ]


def test_illegal_name_is_one_fault() -> None:
    app = builder()
    app.stream("l").join(app.table("r"), any_function, name="not a name")
    app.table("a").join(app.table("b"), any_function, store="not a store")

    with pytest.raises(bm.errors.TopologyError) as error:
        app.build()

    assert len(error.value.faults) == 2
