"""Where tables stand that others look into, and where copies are looked into instead."""

from __future__ import annotations

import brookmere as bm
from brookmere.plan import plan
from tests.topology.programs import any_function, builder


def _stores(app: bm.StreamsBuilder, **partitions: int) -> list[tuple[str, ...]]:
    return [stage.stores for stage in plan(app.build(), partitions).stages]


def test_table_moves_to_the_stage_of_the_stream_that_looks_into_it() -> None:
    app = builder()
    table = app.table("rows", store="rows-store")
    app.stream("events").select_key(any_function).join(table, any_function).to("out")

    assert _stores(app, rows=1, events=1) == [(), ("rows-store",)]


def test_stream_joined_with_several_tables_costs_one_stage() -> None:
    app = builder()
    stream = app.stream("events")
    for name in ("one", "two", "three"):
        stream = stream.join(app.table(name, store=f"{name}-store"), any_function)
    stream.to("out")

    stores = [(), ("one-store", "two-store", "three-store")]
    assert _stores(app, events=2, one=2, two=2, three=2) == stores


def test_foreign_key_join_asks_in_the_stage_of_the_right_table_and_answers_one_later() -> None:
    app = builder()
    left, right = app.table("left", store="left-store"), app.table("right", store="right-store")
    left.join(right, any_function, foreign_key=any_function, store="joined", name="fk")

    first, second, third, fourth = _stores(app, left=1, right=1)
    assert first == ()
    assert second == ("left-store",)
    assert set(third) == {"right-store", "fk-subscription-store"}
    assert fourth == ("joined",)


def test_tables_that_name_rows_of_each_other_stand_in_two_stages() -> None:
    app = builder()
    one, other = app.table("one", store="one-store"), app.table("other", store="other-store")
    one.join(other, any_function, foreign_key=any_function, store="there", name="there")
    other.join(one, any_function, foreign_key=any_function, store="back", name="back")

    stage_of = {
        store: number for number, stores in enumerate(_stores(app, one=1, other=1)) for store in stores
    }
    assert (stage_of["one-store"], stage_of["other-store"]) == (1, 2)
    assert (stage_of["there"], stage_of["back"]) == (3, 4)


def test_table_joined_with_a_group_of_its_own_rows_stays_in_front_of_the_group() -> None:
    app = builder()
    table = app.table("rows", store="rows-store")
    groups = table.group_by(any_function).count(store="groups")
    groups.join(table, any_function, store="joined")

    assert _stores(app, rows=1) == [(), ("rows-store",), ("groups", "joined")]


def test_program_that_only_joins_with_a_global_table_has_a_stage_for_it() -> None:
    app = builder()
    app.stream("events").join(app.global_table("all", store="all-store"), any_function, key=any_function).to(
        "out"
    )

    assert _stores(app, events=2, all=1) == [(), ("all-store",)]


def test_global_table_stands_in_the_first_stage_that_looks_into_it() -> None:
    app = builder()
    counts = app.stream("events").group_by(any_function).count(store="first").to_stream()
    again = counts.group_by(any_function).count(store="second").to_stream()
    again.join(app.global_table("all", store="all-store"), any_function, key=any_function).to("out")

    assert _stores(app, events=1, all=1) == [(), ("first",), ("second", "all-store")]
