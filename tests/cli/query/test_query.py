"""`query` reads a store from the shell: keys, ranges, windows, sessions and versions, as JSON or a table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import brookmere as bm
from brookmere.serde.json.spark_json import SparkJson
from brookmere.state import Position, StoreInfo
from tests.cli.conftest import Run
from tests.cli.worlds import INFOS, MINUTE, START, World, started, wait_for


@pytest.fixture
def world(folder: Path) -> World:
    made = World(folder)
    made.fill()
    return made


def rows(run: Run, *arguments: str) -> list[tuple[Any, Any]]:
    shown = run("query", "clicks", *arguments)
    assert shown.exit_code == 0, shown.stderr
    found = [json.loads(line) for line in shown.stdout.splitlines()]
    return [(row["key"], row["value"]) for row in found]


def window(key: int, number: int) -> dict[str, int]:
    start = START + number * MINUTE
    return {"key": key, "start": start, "end": start + MINUTE}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["ada"], [("ada", 3)]),
        ([], [("ada", 3), ("bob", 1), ("carl", 7)]),
        (["--from", "b"], [("bob", 1), ("carl", 7)]),
        (["--to", "bob"], [("ada", 3), ("bob", 1)]),
        (["--reverse", "--limit", "2"], [("carl", 7), ("bob", 1)]),
        (["--prefix", "ca"], [("carl", 7)]),
        (["--from", "x"], []),
    ],
)
def test_key_value_store_can_be_queried(run: Run, world: World, arguments: list[str], expected: Any) -> None:
    assert rows(run, "counts", *arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["1"], [(window(1, 0), 10), (window(1, 1), 11), (window(1, 2), 12)]),
        (["1", "--from", str(START + 1), "--reverse"], [(window(1, 2), 12), (window(1, 1), 11)]),
        (["2", "--from", "2023-11-14T22:15:00Z", "--to", "2023-11-14T22:15:00"], [(window(2, 1), 21)]),
        (["--to", str(START)], [(window(1, 0), 10), (window(2, 0), 20)]),
    ],
)
def test_window_store_is_queried_by_key_and_time(
    run: Run, world: World, arguments: list[str], expected: Any
) -> None:
    assert rows(run, "per-minute", *arguments) == expected


def test_session_and_versioned_stores_can_be_queried(run: Run, world: World) -> None:
    first, second = ({"key": "ada", "start": START + n, "end": START + n + 5} for n in (0, 100))

    assert rows(run, "visits", "ada") == [(first, 0), (second, 100)]
    assert rows(run, "visits", "ada", "--from", str(START + 50)) == [(second, 100)]
    assert rows(run, "prices", "tea") == [("tea", 3.0)]
    assert rows(run, "prices", "tea", "--as-of", str(START + 999)) == [("tea", 2.5)]
    assert rows(run, "prices", "tea", "--from", "0") == [("tea", 2.5), ("tea", 3.0)]
    assert rows(run, "prices") == [("tea", 3.0)]


def test_rows_are_counted(run: Run, world: World) -> None:
    assert run("query", "clicks", "counts", "--count").stdout == "3\n"
    assert run("query", "clicks", "prices", "--count").stdout == "1\n"


def test_table_output_is_aligned(run: Run, world: World) -> None:
    counts = run("query", "clicks", "counts", "--table")
    prices = run("query", "clicks", "prices", "tea", "--from", "0", "--table")

    assert counts.stdout == (
        "KEY   VALUE  TIME (UTC)\n"
        "ada       3  2023-11-14 22:14:00.000\n"
        "bob       1  2023-11-14 22:14:00.000\n"
        "carl      7  2023-11-14 22:14:00.000\n"
    )
    assert prices.stdout.splitlines()[1:] == [
        "tea    2.5  2023-11-14 22:14:00.000  2023-11-14 22:14:01.000",
        "tea    3.0  2023-11-14 22:14:01.000  still",
    ]


@dataclass
class Paid:
    paid: Decimal
    rate: float


PAID = SparkJson(bm.Json(Paid).schema_json() or "")
EXACT = '{"paid":12345678901234567890.123456789000000000,"rate":1e+300}'


@pytest.fixture
def bills(world: World) -> str:
    """Return a store whose decimals have more digits than a float."""
    info = StoreInfo("bills", "key_value", "clicks-bills-changelog", bm.Text(), PAID)
    world.describe(*INFOS, info)
    paid = {"paid": Decimal("12345678901234567890.123456789"), "rate": 1e300}
    world.send(info.topic, bm.Text(), PAID, ("ada", paid, START))
    return info.name


def test_decimals_keep_their_digits(run: Run, world: World, bills: str, folder: Path) -> None:
    line = f'{{"key":"ada","value":{EXACT},"timestamp":{START}}}'

    assert run("query", "clicks", bills, "ada").stdout == f"{line}\n"
    assert EXACT.replace(",", ", ").replace(":", ": ") in run("query", "clicks", bills, "--table").stdout
    with started(folder, "serve", "clicks", "--port", "0", "--store", bills) as (process, said):
        wait_for(lambda: "ready" in said(), process, said)
        url = said().partition("serving at ")[2].partition(";")[0]
        for key in ([], ["ada"]):
            assert run("query", "clicks", bills, *key, "--url", url).stdout == f"{line}\n"


def test_result_longer_than_a_page_is_complete(run: Run, world: World) -> None:
    world.count(**{f"n{number:04}": number for number in range(2500)})

    assert len(rows(run, "counts")) == 2503
    assert rows(run, "counts", "--prefix", "n", "--limit", "1500")[-1] == ("n1499", 1499)


@pytest.mark.parametrize("store", ["counts", "visits", "prices"])
def test_missing_key_is_exit_code_1(run: Run, world: World, store: str) -> None:
    shown = run("query", "clicks", store, "zoe")

    assert (shown.exit_code, shown.stdout) == (1, "")
    assert shown.stderr == f"The store {store} does not have the key 'zoe'.\n"


def test_next_query_sees_newer_records(run: Run, world: World, folder: Path) -> None:
    assert rows(run, "counts", "ada") == [("ada", 3)]
    world.count(ada=4, bob=None)

    assert rows(run, "counts") == [("ada", 4), ("carl", 7)]
    assert (world.state / "replicas" / "query" / "counts" / "CURRENT").is_file()


def test_files_in_use_do_not_prevent_a_query(run: Run, world: World, folder: Path) -> None:
    with started(folder, "replica", "clicks", "--store", "counts", "--name", "query") as (process, said):
        wait_for(lambda: "counts: ready" in said(), process, said)

        shown = run("-v", "query", "clicks", "counts", "ada")

    assert json.loads(shown.stdout)["value"] == 3
    assert "Reading the changelog into memory, because the files cannot be used: " in shown.stderr


def test_verbose_query_reports_freshness(run: Run, world: World) -> None:
    shown = run("-v", "query", "clicks", "counts", "ada", "--in-memory")

    position = {
        "clicks-counts-changelog": dict(enumerate(world.topics["clicks-counts-changelog"].end_offsets()))
    }
    assert f"position {Position(position).to_json()} · lag 0\n" in shown.stderr
    assert not (world.state / "replicas").exists()


def test_query_waits_for_a_position(run: Run, world: World) -> None:
    ends = world.topics["clicks-counts-changelog"].end_offsets()
    there = json.dumps({"clicks-counts-changelog": {"0": ends[0]}})
    beyond = json.dumps({"clicks-counts-changelog": {"0": ends[0] + 1}})

    assert rows(run, "counts", "ada", "--at-least", there) == [("ada", 3)]
    shown = run("query", "clicks", "counts", "ada", "--at-least", beyond, "--timeout", "0.2")
    assert shown.exit_code == 1
    assert "has not reached the requested position within 0.2 s" in shown.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["click", "counts"], "Did you mean clicks?"),
        (["clicks", "count"], "Did you mean 'counts'?"),
        (["clicks", "per-minute", "ada"], "The key 'ada' does not fit: expected a 32-bit integer"),
        (["clicks", "counts", "--as-of", "1"], "--as-of does not apply: counts is a key-value store"),
        (["clicks", "per-minute", "--prefix", "1"], "Options that apply here: --from, --to."),
        (["clicks", "prices", "--from", "1"], "prices is a versioned store, queried without a key"),
        (["clicks", "per-minute", "--from", "noon"], "'noon' is not a time."),
        (["clicks", "counts", "ada", "--count"], "KEY and --count cannot be combined."),
        (["clicks", "counts", "--json", "--table"], "--json and --table cannot be combined."),
        (["clicks", "counts", "--at-least", "[]"], "--at-least '[]' is not a position: "),
        (["clicks", "counts", "--topics-dir", "x"], "its topic clicks-counts-changelog does not exist."),
        (["clicks", "counts", "--url", "127.0.0.1:1"], "'127.0.0.1:1' is not the URL of a server."),
        (
            ["clicks", "counts", "--url", "http://127.0.0.1:1"],
            "There is no response from http://127.0.0.1:1: ",
        ),
    ],
)
def test_invalid_queries_are_explained(run: Run, world: World, arguments: list[str], words: str) -> None:
    shown = run("query", *arguments)

    assert (shown.exit_code, shown.stdout) == (1, "")
    assert words in shown.stderr
    assert "Traceback" not in shown.stderr


def test_store_that_only_the_program_can_decode_asks_for_the_program(run: Run, world: World) -> None:
    own = bm.Custom(lambda data: data, lambda value: value, name="mine")
    world.describe(INFOS[0], StoreInfo("secret", "key_value", "secrets", bm.Text(), own))

    shown = run("query", "clicks", "secret")

    assert rows(run, "counts", "ada") == [("ada", 3)]
    assert shown.exit_code == 1
    assert "Pass the program instead of the application id" in shown.stderr
