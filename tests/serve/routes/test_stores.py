"""Stores are listed, and their rows are read by key, range, time and page."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.serve.conftest import Changelogs, until


def get(client: httpx.Client, path: str, **parameters: Any) -> Any:
    answer = client.get(path, params=parameters or None)
    assert answer.status_code == 200, answer.text
    return answer.json()


def problem(client: httpx.Client, path: str, **parameters: Any) -> dict[str, Any]:
    answer = client.get(path, params=parameters or None)
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    content: dict[str, Any] = answer.json()
    assert content["status"] == answer.status_code
    return content


def rows(page: Any) -> list[tuple[Any, Any]]:
    return [(row["key"], row["value"]) for row in page["rows"]]


def test_stores_are_listed_with_kind_size_lag_and_position(client: httpx.Client) -> None:
    stores = {store["name"]: store for store in get(client, "/stores")["stores"]}

    assert list(stores) == [
        "totals", "moving", "people", "boards", "blobs", "rates", "flags", "views", "visits", "prices"
    ]  # fmt: skip
    totals = stores["totals"]
    assert sum(totals.pop("position")["app-totals-changelog"].values()) == 4
    assert totals.pop("bytes") > 0
    assert totals == {
        "name": "totals",
        "kind": "key_value",
        "topic": "app-totals-changelog",
        "key": "text",
        "entries": 4,
        "lag": 0,
        "ready": True,
        "error": None,
    }


@pytest.mark.parametrize(
    ("path", "key", "value"),
    [
        ("/stores/totals/ann", "ann", 0),
        ("/stores/totals/cy%2Fd", "cy/d", 2),
        ("/stores/totals/cy/d", "cy/d", 2),
        ("/stores/people/7", 7, {"id": 7, "name": "Zoë"}),
        ("/stores/boards/" + quote('{"game":"go","day":3}'), {"game": "go", "day": 3}, {"top": [3, 2, 1]}),
        ("/stores/blobs/0x00ff", "AP8=", "AQ=="),
        ("/stores/rates/-5", -5, "NaN"),
        ("/stores/flags/true", True, False),
    ],
)
def test_a_key_is_written_in_the_path_as_its_serde_has_it(
    client: httpx.Client, path: str, key: Any, value: Any
) -> None:
    row = get(client, path)

    assert (row["key"], row["value"]) == (key, value)
    # A request with parameters goes the framework's way, and has the same answer.
    assert get(client, path, timeout=1) == row


def test_an_answer_tells_its_position(client: httpx.Client) -> None:
    short, long = client.get("/stores/totals/ann"), client.get("/stores/totals/ann?timeout=1")

    assert short.headers["Brookmere-Position"] == long.headers["Brookmere-Position"]
    assert "app-totals-changelog" in short.headers["Brookmere-Position"]


def test_rows_come_in_the_order_of_keys_between_two_of_them(client: httpx.Client) -> None:
    assert rows(get(client, "/stores/totals")) == [("ann", 0), ("bob", 1), ("cy/d", 2), ("eve", 3)]
    assert rows(get(client, "/stores/totals", lower="bob", upper="cy/d")) == [("bob", 1), ("cy/d", 2)]
    assert rows(get(client, "/stores/totals", lower="c", reverse=True)) == [("eve", 3), ("cy/d", 2)]
    assert rows(get(client, "/stores/totals", prefix="cy")) == [("cy/d", 2)]
    assert rows(get(client, "/stores/blobs", prefix="0x00")) == [("AP8=", "AQ==")]


def test_pages_follow_each_other_by_their_cursors(client: httpx.Client) -> None:
    found, cursor = [], None
    while True:
        page = get(client, "/stores/totals", limit=1, reverse=True, **({"cursor": cursor} if cursor else {}))
        found += rows(page)
        cursor = page["cursor"]
        if cursor is None:
            break

    assert found == [("eve", 3), ("cy/d", 2), ("bob", 1), ("ann", 0)]


def test_a_cursor_belongs_to_its_request(client: httpx.Client) -> None:
    cursor = get(client, "/stores/totals", limit=1)["cursor"]

    assert problem(client, "/stores/totals", limit=1, reverse=True, cursor=cursor)["type"] == "bad-cursor"
    assert problem(client, "/stores/people", limit=1, cursor=cursor)["type"] == "bad-cursor"
    assert problem(client, "/stores/totals", cursor="x")["status"] == 400


def test_windows_are_read_by_key_and_by_time(client: httpx.Client) -> None:
    def window(key: str, start: int) -> dict[str, Any]:
        return {"key": key, "start": start, "end": start + 5000}

    assert rows(get(client, "/stores/views/home")) == [
        (window("home", 0), 0), (window("home", 5000), 5), (window("home", 10_000), 10)
    ]  # fmt: skip
    assert rows(get(client, "/stores/views/home", start=5000, end=5000)) == [(window("home", 5000), 5)]
    assert rows(get(client, "/stores/views/home", start="1970-01-01T00:00:10Z")) == [
        (window("home", 10_000), 10)
    ]
    assert rows(get(client, "/stores/views", start=1, end=5000)) == [
        (window("home", 5000), 5), (window("shop", 5000), 1)
    ]  # fmt: skip
    assert rows(get(client, "/stores/views/nobody")) == []


def test_sessions_are_read_by_key(client: httpx.Client) -> None:
    found = rows(get(client, "/stores/visits/ann"))

    assert found == [
        ({"key": "ann", "start": 100, "end": 900}, 4),
        ({"key": "ann", "start": 5000, "end": 6000}, 2),
    ]
    assert rows(get(client, "/stores/visits/ann", start=1000)) == found[1:]
    assert rows(get(client, "/stores/visits", reverse=True)) == found[::-1]


def test_versions_are_read_as_of_a_time_and_over_time(client: httpx.Client) -> None:
    first = {"key": "A", "value": 1.5, "timestamp": 1000, "until": 2000}
    second = {"key": "A", "value": 2.5, "timestamp": 2000, "until": None}

    assert get(client, "/stores/prices/A") == second
    assert get(client, "/stores/prices/A", as_of=1999) == first
    assert get(client, "/stores/prices/A", start=0)["rows"] == [first, second]
    assert get(client, "/stores/prices")["rows"] == [second]
    assert problem(client, "/stores/prices/A", as_of=999)["type"] == "no-such-key"
    assert problem(client, "/stores/prices/A", as_of=1, start=0)["status"] == 422


def test_a_key_may_have_line_breaks(client: httpx.Client, changelogs: Changelogs) -> None:
    key = "two\nlines\n"
    changelogs.put("prices", (key, 7.5, 2000))
    changelogs.put("moving", (key, 3, 2000))
    until(lambda: client.get("/stores/prices/two%0Alines%0A").status_code == 200)
    until(lambda: client.get("/stores/moving/two%0Alines%0A?timeout=1").status_code == 200)

    assert get(client, "/stores/prices/two%0Alines%0A")["value"] == 7.5
    assert get(client, "/stores/moving/two%0Alines%0A?timeout=1")["value"] == 3
    assert get(client, "/metadata/moving/two%0Alines%0A")["key"] == key
    assert '"value":3' in client.get("/updates/moving/two%0Alines%0A?seconds=0").text
    # The key A is there, and this is another one.
    assert client.get("/stores/prices/A%0A").json()["type"] == "no-such-key"


def test_what_is_not_there_is_not_found(client: httpx.Client) -> None:
    assert problem(client, "/stores/totals/nobody")["type"] == "no-such-key"
    unknown = problem(client, "/stores/total/ann")
    assert (unknown["status"], unknown["type"]) == (404, "no-such-store")
    assert "Did you mean 'totals'?" in unknown["detail"]
    nowhere = problem(client, "/nowhere")
    assert nowhere["type"] == "no-such-path"
    assert nowhere["detail"] == "There is no GET /nowhere. GET /docs lists all routes."


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/stores/people/x", "a 64-bit integer"),
        ("/stores/people/99999999999999999999", "a 64-bit integer"),
        ("/stores/people/", "a 64-bit integer"),
        ("/stores/rates/2147483648", "a 32-bit integer"),
        ("/stores/boards/go", "JSON"),
        ("/stores/boards/[1]", "JSON"),
        ("/stores/boards/" + quote('{"game":' + "[" * 900 + "]" * 900 + "}"), "JSON"),
        ("/stores/blobs/00ff", "0x and hexadecimal digits"),
        ("/stores/flags/True", "true or false"),
    ],
)
def test_a_key_that_does_not_fit_is_refused_with_what_is_expected(
    client: httpx.Client, path: str, expected: str
) -> None:
    found = problem(client, path)

    assert (found["status"], found["type"], found["expected"]) == (422, "invalid-key", expected)


def test_a_path_that_is_no_utf8_is_refused(client: httpx.Client) -> None:
    assert problem(client, "/stores/totals/%FF")["type"] == "invalid-key"
    assert problem(client, "/stores/totals/%EF%BF%BD")["type"] == "no-such-key"


@pytest.mark.parametrize(
    "path",
    [
        "/stores/totals/ann?as_of=1",
        "/stores/totals/ann?start=1",
        "/stores/totals?start=1",
        "/stores/views?lower=a",
        "/stores/views/home?as_of=1",
        "/stores/prices?prefix=A",
    ],
)
def test_a_question_that_a_kind_of_store_does_not_answer_is_refused(client: httpx.Client, path: str) -> None:
    found = problem(client, path)

    assert (found["status"], found["type"]) == (400, "wrong-kind")


@pytest.mark.parametrize(
    "path",
    [
        "/stores/totals?limit=0",
        "/stores/totals?limit=1001",
        "/stores/totals?limit=x",
        "/stores/views?start=-1",
        "/stores/views?start=tomorrow",
        "/stores/views?start=9223372036854775808",
        "/stores/views?start=1969-12-31T23:59:59Z",
        "/stores/totals?prefix=a&lower=b",
        "/stores/people?lower=x",
        "/stores/people?prefix=x",
    ],
)
def test_parameters_that_do_not_fit_are_refused(client: httpx.Client, path: str) -> None:
    assert problem(client, path)["status"] == 422


def test_an_unknown_method_is_refused_with_the_known_ones(client: httpx.Client) -> None:
    answer = client.post("/stores/totals/ann")

    assert (answer.status_code, answer.headers["allow"]) == (405, "GET")
    assert answer.json()["type"] == "method-not-allowed"


def test_an_answer_waits_for_a_position(client: httpx.Client, changelogs: Changelogs) -> None:
    topic = changelogs.topics["app-moving-changelog"]
    before = topic.end_offsets()
    changelogs.put("moving", ("ann", 100, 2000))
    [partition] = [p for p, end in enumerate(topic.end_offsets()) if end != before[p]]
    wanted = f'{{"{topic.name}":{{"{partition}":{before[partition] + 1}}}}}'

    assert get(client, "/stores/moving/ann", at_least=wanted)["value"] == 100
    assert dict(rows(get(client, "/stores/moving", at_least=wanted)))["ann"] == 100


def test_a_position_that_is_not_reached_is_told_with_when_to_ask_again(client: httpx.Client) -> None:
    wanted = '{"app-totals-changelog":{"0":1000}}'
    answer = client.get("/stores/totals/ann", params={"at_least": wanted, "timeout": 0.05})

    assert (answer.status_code, answer.json()["type"]) == (503, "position-not-reached")
    assert answer.headers["retry-after"] == "1"


@pytest.mark.parametrize(
    "wanted", ["x", "[]", '{"a":1}', '{"nowhere":{"0":1}}', '{"app-totals-changelog":{"x":1}}']
)
def test_what_is_no_position_is_refused(client: httpx.Client, wanted: str) -> None:
    found = problem(client, "/stores/totals/ann", at_least=wanted)

    assert (found["status"], found["type"]) == (400, "bad-position")


def test_a_deleted_key_is_not_found(client: httpx.Client, changelogs: Changelogs) -> None:
    changelogs.put("moving", ("gone", 1, 1000))
    until(lambda: client.get("/stores/moving/gone").status_code == 200)

    changelogs.put("moving", ("gone", None, 1001))

    until(lambda: client.get("/stores/moving/gone").status_code == 404)
