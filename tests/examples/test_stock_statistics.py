"""Statistics of the last seconds hold under late and bad trades, and each day has its ten best symbols."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from examples.stock_statistics import app, routes
from tests.examples.sample_data import fill, sample
from tests.run.homes import Home, let_stores_follow

TEN = int(datetime(2026, 3, 2, 10, tzinfo=UTC).timestamp() * 1000)
DAY = 86_400_000


def trade(price: float, size: int = 100, *, ask: float | None = None) -> dict[str, object]:
    return {"symbol": "ACME", "ask": price + 0.5 if ask is None else ask, "price": price, "size": size}


def window(symbol: str, start: int) -> bm.WindowedKey:
    return bm.WindowedKey(symbol, TEN + start, TEN + start + 5000)


def test_trade_counts_in_the_five_windows_that_hold_its_time() -> None:
    with TopologyTestDriver(app) as driver:
        trades = driver.input_topic("trades")
        trades.pipe_input("ACME", trade(10.0), timestamp=TEN)
        trades.pipe_input("ACME", trade(11.0, ask=10.2), timestamp=TEN + 1000)
        trades.pipe_input("BOLT", trade(99.0), timestamp=TEN + 1000)

        found = driver.output_topic("stock-statistics").read_key_values_to_map()

    one = {"lowest_ask": 10.5, "trades": 1, "average_price": 10.0}
    both = {"lowest_ask": 10.2, "trades": 2, "average_price": 10.5}
    assert {key.start - TEN: value for key, value in found.items() if key.key == "ACME"} == {
        -4000: one, -3000: both, -2000: both, -1000: both, 0: both,
        1000: {"lowest_ask": 10.2, "trades": 1, "average_price": 11.0},
    }  # fmt: skip
    assert found[window("BOLT", 0)]["trades"] == 1


def test_late_trade_counts_where_its_windows_are_open_and_is_kept_where_they_are_not() -> None:
    with TopologyTestDriver(app) as driver:
        trades = driver.input_topic("trades")
        trades.pipe_input("ACME", trade(10.0), timestamp=TEN)
        trades.pipe_input("ACME", trade(12.0), timestamp=TEN + 6000)
        # Windows that end at 4 s or before have closed; the one from 0 s to 5 s has not.
        trades.pipe_input("ACME", trade(14.0), timestamp=TEN)

        found = driver.output_topic("stock-statistics").read_key_values_to_map()
        late = driver.output_topic("trades-late").read_records_to_list()
        value = driver.output_topic("top-symbols").read_values_to_list()[-1][0]["value"]

    assert found[window("ACME", 0)] == {"lowest_ask": 10.5, "trades": 2, "average_price": 12.0}
    assert found[window("ACME", -1000)]["trades"] == 1
    assert len(late) == 4
    assert {dict(record.headers)["brookmere.dropped.reason"] for record in late} == {b"late"}
    assert value == 3600.0, "a trade that is late for the seconds is not late for the day"


@pytest.mark.parametrize(
    "bad",
    [
        None, {}, trade(-1.0, ask=1.0), trade(0.0), trade(10.0, size=0), {"ask": 1.0, "size": 1},
        trade(math.nan, ask=1.0), trade(math.inf, ask=1.0), trade(10.0, ask=math.nan),
    ],
)  # fmt: skip
def test_invalid_trade_is_set_aside_and_counts_nowhere(bad: object) -> None:
    with TopologyTestDriver(app) as driver:
        driver.input_topic("trades").pipe_input("ACME", bad, timestamp=TEN)

        assert driver.output_topic("trades-refused").queue_size() == 1
        assert driver.output_topic("stock-statistics").is_empty()
        assert driver.output_topic("top-symbols").is_empty()


def test_trade_without_a_symbol_is_set_aside() -> None:
    with TopologyTestDriver(app) as driver:
        driver.input_topic("trades").pipe_input(None, trade(10.0), timestamp=TEN)

        assert driver.output_topic("trades-refused").queue_size() == 1


def test_invalid_json_is_skipped_and_later_records_are_not() -> None:
    with TopologyTestDriver(app) as driver:
        driver.input_topic("trades", value=bm.Text()).pipe_input("ACME", "10 x 100", timestamp=TEN)
        driver.input_topic("trades").pipe_input("ACME", trade(10.0), timestamp=TEN)

        assert driver.store("days").get(bm.WindowedKey("ACME", TEN - TEN % DAY, TEN - TEN % DAY + DAY)) == {
            "trades": 1,
            "value": 1000.0,
        }


def test_top_ten_symbols_of_each_day_are_in_descending_order_of_traded_value() -> None:
    with TopologyTestDriver(app) as driver:
        trades = driver.input_topic("trades")
        for number in range(12):
            trades.pipe_input(f"S{number:02}", trade(10.0, size=number + 1), timestamp=TEN)
        trades.pipe_input("S00", trade(10.0, size=6), timestamp=TEN + 1)
        trades.pipe_input("S03", trade(10.0, size=1), timestamp=TEN + DAY)

        boards = driver.output_topic("top-symbols").read_key_values_to_map()

    assert [(row["symbol"], row["value"]) for row in boards["2026-03-02"]] == [
        ("S11", 120.0), ("S10", 110.0), ("S09", 100.0), ("S08", 90.0), ("S07", 80.0), ("S06", 70.0),
        ("S00", 70.0), ("S05", 60.0), ("S04", 50.0), ("S03", 40.0),
    ]  # fmt: skip
    assert boards["2026-03-03"] == [{"symbol": "S03", "trades": 1, "value": 10.0}]


@pytest.mark.usefixtures("spark")
def test_application_writes_and_serves_the_statistics_of_the_sample_trades(home: Home) -> None:
    fill(home.topics, "stock_statistics", partitions=2)
    good = good_trades()
    on_time = [(symbol, time, trade) for symbol, time, trade in good if trade["price"] != 1.0]

    with (
        home.application(app, statestore__cache__max__bytes=0) as application,
        bm.serve(application, "127.0.0.1:0", routes=[routes]) as server,
        httpx.Client(base_url=server.url) as client,
    ):
        application.process_all_available()
        let_stores_follow(application)
        times = {"start": "2026-03-02T10:00:02Z", "end": "2026-03-02T10:00:04Z"}
        windows = client.get("/stores/statistics/ACME", params=times).json()
        top = client.get("/top/2026-03-02").json()
        nothing = client.get("/top/2026-03-01").status_code

    expected = by_windows(on_time)
    assert statistics_of(home) == expected
    assert [
        (row["key"]["start"] - TEN, row["value"]["lowest_ask"], row["value"]["trades"])
        for row in windows["rows"]
    ] == [(start, *expected["ACME", TEN + start][:2]) for start in (2000, 3000, 4000)]
    assert [(row["symbol"], round(row["value"], 2)) for row in top] == by_value(good)[:10]
    assert nothing == 404
    assert application.progress().skipped == 1
    assert [trade["price"] for trade in values(home, "trades-refused")] == [-18.5]
    assert {trade["price"] for trade in values(home, "trades-late")} == {1.0}


def values(home: Home, topic: str) -> list[Any]:
    return [json.loads(text) for text in home.read(topic)]


def good_trades() -> list[tuple[str, int, dict[str, Any]]]:
    """Return symbol, time and value of the sample trades that are trades."""
    read = [
        (record.key.decode(), record.timestamp, json.loads(record.value))
        for _, record in sample("stock_statistics")
        if record.value.startswith(b"{")
    ]
    return [entry for entry in read if entry[2]["price"] > 0]


def by_windows(
    trades: list[tuple[str, int, dict[str, Any]]],
) -> dict[tuple[str, int], tuple[float, int, float]]:
    """Return lowest ask, number and average price by symbol and start of the window, in plain Python."""
    windows = defaultdict(list)
    for symbol, time, value in trades:
        for start in range(time // 1000 * 1000 - 4000, time + 1, 1000):
            windows[symbol, start].append(value)
    return {
        window: (
            min(value["ask"] for value in values),
            len(values),
            round(sum(value["price"] for value in values) / len(values), 6),
        )
        for window, values in windows.items()
    }


def by_value(trades: list[tuple[str, int, dict[str, Any]]]) -> list[tuple[str, float]]:
    totals: dict[str, float] = defaultdict(float)
    for symbol, _, value in trades:
        totals[symbol] += value["price"] * value["size"]
    return sorted(((s, round(total, 2)) for s, total in totals.items()), key=lambda row: -row[1])


def statistics_of(home: Home) -> dict[tuple[str, int], tuple[float, int, float]]:
    value = bm.Json("lowest_ask double, trades bigint, average_price double")
    records = home.topics.consumer("stock-statistics", key=bm.Windowed(bm.Text(), form="json"), value=value)
    return {
        (record.key.key, record.key.start): (
            record.value["lowest_ask"],
            record.value["trades"],
            round(record.value["average_price"], 6),
        )
        for record in records
    }
