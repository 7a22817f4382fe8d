from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from datetime import timedelta
from typing import Any, get_type_hints

import pytest

import brookmere as bm
from brookmere.topology import operators
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.operators.operator import Operator, StreamStep
from tests.topology.programs import any_function, builder


def operator_classes() -> Iterator[type[Operator]]:
    for module in pkgutil.iter_modules(operators.__path__):
        found = vars(importlib.import_module(f"{operators.__name__}.{module.name}")).values()
        yield from (
            each
            for each in found
            if isinstance(each, type) and issubclass(each, Operator) and is_dataclass(each)
        )


CLASSES = sorted(set(operator_classes()), key=lambda each: each.__name__)


def missing_facts(operator: type[Operator]) -> list[str]:
    hints = get_type_hints(Operator)
    stated = [fact for fact in Operator.__annotations__ if fact in hints]
    return [fact for fact in stated if not hasattr(operator, fact)] + sorted(operator.__abstractmethods__)


@pytest.mark.parametrize("operator", CLASSES, ids=lambda each: each.__name__)
def test_operator_states_every_fact(operator: type[Operator]) -> None:
    missing = missing_facts(operator)

    assert not missing, f"{operator.__name__} does not state {', '.join(missing)}"


def test_operator_that_states_nothing_lacks_every_fact() -> None:
    @dataclass(frozen=True, slots=True)
    class Forgetful(Operator):
        pass

    assert missing_facts(Forgetful) == [
        "keeps_key", "keeps_value", "takes", "sends", "rows", "has_timers",
        "idle_after_ms", "kept_stores", "lookup_table", "read_stores", "shared_store",
    ]  # fmt: skip


def test_operator_lacks_the_facts_that_its_mixin_does_not_state() -> None:
    @dataclass(frozen=True, slots=True)
    class HalfStated(StreamStep):
        keeps_key = True
        has_timers = False

    assert missing_facts(HalfStated)[0] == "keeps_value"
    assert "takes" not in missing_facts(HalfStated)


def test_package_lists_every_operator() -> None:
    assert [each.__name__ for each in CLASSES if each.__name__ not in operators.__all__] == []


@pytest.mark.parametrize("operator", CLASSES, ids=lambda each: each.__name__)
def test_table_with_rows_of_its_own_can_send_old_values(operator: Any) -> None:
    names = {field.name for field in fields(operator)}

    if operator.rows in ("own store", "own store or parents"):
        assert "send_old" in names
    else:
        assert "send_old" not in names


@pytest.mark.parametrize("operator", CLASSES, ids=lambda each: each.__name__)
def test_only_what_sends_changes_has_rows(operator: type[Operator]) -> None:
    if operator.sends == "records":
        assert operator.rows == "none"


def test_operators_of_a_program_keep_the_stores_of_their_nodes() -> None:
    app = builder()
    left, right = app.stream("left"), app.stream("right")
    table, other = app.table("table"), app.table("other")
    windows = bm.TimeWindows(timedelta(seconds=5))
    left.left_join(right, any_function, windows=bm.JoinWindows(timedelta(seconds=5))).to("joined")
    left.join(table, any_function).to("looked-up")
    table.join(other, any_function, store="both").to_stream().to("tables")
    table.join(other, any_function, foreign_key=any_function).to_stream().to("foreign")
    counts = left.group_by_key().windowed_by(windows).count()
    counts.suppress(bm.until_window_closes()).to_stream().to("counts")

    processors = [node for node in app.build().nodes if isinstance(node, ProcessorNode)]

    for node in processors:
        others = set(node.stores) - set(node.operator.kept_stores)
        assert set(node.operator.kept_stores) <= set(node.stores), node.name
        assert not others or node.operator.lookup_table is not None, node.name
