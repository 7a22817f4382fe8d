"""Shipments, sales and returns become the current stock; its changes make the same table again."""

from __future__ import annotations

from brookmere.testing import TopologyTestDriver
from examples.shoe_inventory import WEEK, app, side_by_side


def test_stock_is_what_came_in_less_what_went_out() -> None:
    with TopologyTestDriver(app) as driver:
        for _, topic, shoe, pairs in WEEK:
            driver.input_topic(topic).pipe_input(shoe, pairs)

        table = dict(driver.store("stock").all())
        assert table == {"trail-42": 7, "boot-44": 1, "clog-39": 4}

        changes = driver.output_topic("stock").read_key_values_to_list()
        assert len(changes) == len(WEEK)
        assert dict(changes) == table


def test_stream_of_changes_and_table_agree() -> None:
    lines = side_by_side(WEEK[:3], [("trail-42", 10), ("boot-44", 4), ("trail-42", 9)])

    assert lines == [
        "what happened               change stream       table",
        "--------------------------  ------------------  ------------------------------",
        "Mon shipments trail-42 10   trail-42 -> 10      trail-42 10",
        "Mon shipments boot-44 4     boot-44 -> 4        boot-44 4  trail-42 10",
        "Tue sales trail-42 1        trail-42 -> 9       boot-44 4  trail-42 9",
    ]
