"""The board of each game has its three best scores, with the names of player and game."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from examples.leaderboard import Named, ScoreEvent, app, routes

DATA = Path(__file__).resolve().parents[2] / "examples" / "data" / "leaderboard"


class Game:
    """A driver with two known players, 1 and 2, and the known games 1 and 6."""

    def __init__(self, driver: TopologyTestDriver) -> None:
        self.driver = driver
        self.players, self.products = driver.input_topic("players"), driver.input_topic("products")
        self.players.pipe_key_values([("1", Named(1, "Ada")), ("2", Named(2, "Bruno"))])
        self.products.pipe_key_values([("1", Named(1, "Otter Hop")), ("6", Named(6, "Heron and Frog"))])

    def play(self, player: int | None, score: float | None, product: int | None = 6) -> None:
        self.driver.input_topic("score-events").pipe_input(ScoreEvent(score, product, player))

    def board(self, product: int = 6) -> list[tuple[str, float]] | None:
        entries = self.driver.store("leader-boards").get(str(product))
        return None if entries is None else [(entry["playerName"], entry["score"]) for entry in entries]


@pytest.fixture
def game() -> Iterator[Game]:
    with TopologyTestDriver(app) as driver:
        yield Game(driver)


def test_an_entry_names_player_and_game(game: Game) -> None:
    game.play(1, 422.0)

    assert game.driver.store("leader-boards").all() == [
        (
            "6",
            [
                {
                    "playerId": 1,
                    "productId": 6,
                    "playerName": "Ada",
                    "gameName": "Heron and Frog",
                    "score": 422.0,
                }
            ],
        )
    ]


def test_only_the_three_highest_scores_stay_whoever_made_them(game: Game) -> None:
    for player, score in [(1, 10.0), (2, 40.0), (1, 30.0), (1, 20.0), (2, 5.0)]:
        game.play(player, score)

    assert game.board() == [("Bruno", 40.0), ("Ada", 30.0), ("Ada", 20.0)]


def test_earlier_of_equal_scores_ranks_higher(game: Game) -> None:
    for player, score in [(2, 7.0), (1, 7.0), (1, 7.0), (2, 7.0)]:
        game.play(player, score)

    assert game.board() == [("Bruno", 7.0), ("Ada", 7.0), ("Ada", 7.0)]


def test_every_game_has_its_own_board(game: Game) -> None:
    game.play(1, 10.0, product=1)
    game.play(2, 20.0, product=6)

    assert game.board(1) == [("Ada", 10.0)]
    assert game.board(6) == [("Bruno", 20.0)]


def test_scores_of_a_player_count_from_when_the_player_is_known(game: Game) -> None:
    game.play(3, 99.0)
    game.players.pipe_input("3", Named(3, "Chidi"))
    game.play(3, 50.0)

    assert game.board() == [("Chidi", 50.0)]


def test_new_name_appears_on_later_scores(game: Game) -> None:
    game.play(1, 50.0)
    game.players.pipe_input("1", Named(1, "Ada Lovelace"))
    game.play(1, 60.0)

    assert game.board() == [("Ada Lovelace", 60.0), ("Ada", 50.0)]


def test_scores_of_unknown_players_and_products_are_ignored(game: Game) -> None:
    game.play(99, 50.0)
    game.play(1, 50.0, product=99)

    assert game.driver.store("leader-boards").all() == []


@pytest.mark.parametrize(
    ("player", "score", "product"), [(None, 1.0, 6), (1, None, 6), (1, 1.0, None)], ids=str
)
def test_a_score_with_a_part_missing_changes_no_board(
    game: Game, player: int | None, score: float | None, product: int | None
) -> None:
    game.play(1, 5.0)
    game.play(player, score, product)

    assert game.board() == [("Ada", 5.0)]


def test_score_that_is_not_json_is_set_aside_and_the_next_counts(game: Game) -> None:
    raw = game.driver.input_topic("score-events", value=bm.Bytes())
    raw.pipe_input(b"four hundred and twenty-two")
    raw.pipe_input(b'{"score": "422", "product_id": 6, "player_id": 1}')
    game.play(1, 5.0)

    assert game.board() == [("Ada", 5.0)]
    assert [type(error) for error in game.driver.errors] == [bm.errors.DeserializationError] * 2


@pytest.mark.parametrize("score", [b"NaN", b'"Infinity"', b"1e999"])
def test_infinite_score_is_ignored(game: Game, score: bytes) -> None:
    raw = game.driver.input_topic("score-events", value=bm.Bytes())
    raw.pipe_input(b'{"score": %b, "product_id": 6, "player_id": 2}' % score)
    game.play(1, -5.0)

    assert game.board() == [("Ada", -5.0)]


def test_player_row_that_is_not_json_stops_the_program(game: Game) -> None:
    with pytest.raises(bm.errors.DeserializationError):
        game.driver.input_topic("players", value=bm.Bytes()).pipe_input("1", b"Ada")


def _sample(topic: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{topic}.jsonl").read_text().splitlines()]


def test_sample_data_fills_the_boards() -> None:
    with TopologyTestDriver(app, partitions=2) as driver:
        for topic in ("players", "products"):
            driver.input_topic(topic).pipe_key_values(
                [(row["key"], Named(**row["value"])) for row in _sample(topic)]
            )
        driver.input_topic("score-events").pipe_values(
            [ScoreEvent(**event) for event in _sample("score-events")]
        )

        boards = {
            game: [(entry["playerName"], entry["score"]) for entry in board]
            for game, board in driver.store("leader-boards").all()
        }
    assert boards["6"] == [("Dorothea", 812.0), ("Chidi", 655.0), ("Elif", 655.0)]
    assert boards["10"] == [("Hanneke", 1020.0), ("Fenna", 1020.0), ("Dorothea", 903.0)]
    assert sorted(boards, key=int) == ["1", "2", "3", "6", "10"]


@pytest.mark.usefixtures("spark")
def test_boards_are_served_over_http(tmp_path: Path) -> None:
    settings = {"topics.dir": tmp_path / "topics", "state.dir": tmp_path / "state", "num.stream.threads": 2}
    topics = bm.Topics(tmp_path / "topics")
    for topic in ("players", "products"):
        rows = [(row["key"], row["value"]) for row in _sample(topic)]
        topics.create(topic, partitions=2).append(
            [bm.Record(key.encode(), json.dumps(value).encode(), n) for n, (key, value) in enumerate(rows)]
        )
    events = [json.dumps(event).encode() for event in _sample("score-events")]
    events.insert(3, b"no JSON")
    topics.create("score-events", partitions=2).append(
        [bm.Record(None, event, 1_000 + n) for n, event in enumerate(events)]
    )

    with (
        bm.Application(app, settings) as application,
        bm.serve(application, "127.0.0.1:0", routes=[routes]) as server,
        httpx.Client(base_url=server.url) as client,
    ):
        ends = dict(enumerate(topics["score-events"].end_offsets()))
        application.store("leader-boards").at_least({"score-events": ends}, timeout="60s")

        boards = client.get("/leaderboard").json()
        one = client.get("/leaderboard/6")
        missing = client.get("/leaderboard/7")
        document = client.get("/openapi.json").json()

    assert list(boards) == ["1", "2", "3", "6", "10"]
    assert one.json() == boards["6"]
    assert [(entry["playerName"], entry["score"]) for entry in one.json()] == [
        ("Dorothea", 812.0),
        ("Chidi", 655.0),
        ("Elif", 655.0),
    ]
    assert one.json()[0] == {
        "playerId": 4,
        "productId": 6,
        "playerName": "Dorothea",
        "gameName": "Heron and Frog",
        "score": 812.0,
    }
    assert missing.status_code == 404
    assert missing.headers["content-type"] == "application/problem+json"
    assert "Nobody has played the game 7 yet." in missing.json()["detail"]
    assert document["paths"]["/leaderboard/{product_id}"]["get"]["responses"]["200"]["content"]
