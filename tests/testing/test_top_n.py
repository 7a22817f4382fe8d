"""top_n(): the best values of each group, for streams and for tables whose rows change."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver

SCORE = bm.Json("player string, points bigint")
LIST = bm.Json("array<struct<player:string,points:bigint>>")


def _score(player: str, points: int | None) -> dict[str, Any]:
    return {"player": player, "points": points}


def _names(rows: list[dict[str, Any]] | None) -> str | None:
    return None if rows is None else "".join(row["player"] for row in rows)


def _of_stream(*scores: tuple[str, int | None], **options: Any) -> list[str | None]:
    app = bm.StreamsBuilder("top", key=bm.Text(), value=SCORE)
    app.stream("in").group_by_key().top_n(2, by="points", **options).to_stream().to("out", value=LIST)
    with TopologyTestDriver(app) as driver:
        for player, points in scores:
            driver.input_topic("in").pipe_input("game", _score(player, points))
        return [_names(value) for value in driver.output_topic("out").read_values_to_list()]


def test_the_best_values_of_a_stream_are_kept_best_first() -> None:
    assert _of_stream(("a", 5), ("b", 7), ("c", 6), ("d", 1)) == ["a", "ba", "bc", "bc"]


def test_first_of_equal_values_stays_ahead() -> None:
    assert _of_stream(("a", 5), ("b", 5), ("c", 5)) == ["a", "ab", "ab"]


def test_lowest_reverses_the_order() -> None:
    assert _of_stream(("a", 5), ("b", 7), ("c", 6), lowest=True) == ["a", "ab", "ac"]


def test_values_without_rank_are_ignored() -> None:
    assert _of_stream(("a", 5), ("b", None)) == ["a", "a"]


@pytest.mark.parametrize("engine", ["local", "spark"])
def test_the_store_shows_what_readers_of_the_table_see(engine: Any) -> None:
    app = bm.StreamsBuilder("top", key=bm.Text(), value=SCORE)
    scores = app.stream("in")
    scores.group_by_key().top_n(2, by="points", store="of-stream")
    rows = scores.map(lambda key, score: (score.player, score)).to_table()
    rows.group_by(lambda key, score: (F.lit("game"), score), key=bm.Text()).top_n(
        2, by="points", store="of-table"
    )
    with TopologyTestDriver(app, engine=engine) as driver:
        driver.pipe_records(
            [("in", bm.Record("game", _score(player, n), n)) for n, player in enumerate("abc")]
        )

        best = [_score("c", 2), _score("b", 1)]
        assert driver.store("of-stream").get("game") == best
        assert driver.store("of-table").get("game") == best


def _of_table(*rows: tuple[str, str, int | None], partitions: int = 1) -> list[tuple[str, str | None]]:
    """Rows are (player, team, points); without points the player is gone."""
    app = bm.StreamsBuilder("top", key=bm.Text(), value=bm.Json("team string, player string, points bigint"))
    players = app.table("in", store="players")
    teams = players.group_by(lambda key, value: (value.team, value), key=bm.Text())
    best = teams.top_n(2, by=lambda value: value.points, store="best")
    best.to_stream().to("out", value=bm.Json("array<struct<team:string,player:string,points:bigint>>"))
    with TopologyTestDriver(app, partitions=partitions) as driver:
        topic = driver.input_topic("in")
        for player, team, points in rows:
            value = None if points is None else {"team": team, "player": player, "points": points}
            topic.pipe_input(player, value)
        found = driver.output_topic("out").read_key_values_to_list()
        return [(team, _names(value)) for team, value in found]


def test_an_update_of_a_row_moves_the_ranking() -> None:
    found = _of_table(("a", "x", 5), ("b", "x", 7), ("c", "x", 6), ("b", "x", 1), ("c", "x", 9))

    assert [best for _, best in found] == ["a", "ba", "bc", "ca", "ca"]


def test_a_deleted_row_makes_room_for_the_next() -> None:
    found = _of_table(("a", "x", 5), ("b", "x", 7), ("c", "x", 6), ("b", "", None), ("c", "", None))

    assert [best for _, best in found] == ["a", "ba", "bc", "ca", "a"]


def test_a_group_without_rows_is_deleted() -> None:
    assert _of_table(("a", "x", 5), ("a", "", None)) == [("x", "a"), ("x", None)]


def test_a_row_can_move_to_another_group() -> None:
    found = _of_table(("a", "x", 5), ("b", "x", 4), ("a", "y", 6), partitions=2)

    assert sorted(found[2:], key=str) == [("x", "b"), ("y", "a")]


@pytest.mark.parametrize("n", [0, -1, True, "2"])
def test_invalid_number_is_refused(n: Any) -> None:
    app = bm.StreamsBuilder("top", key=bm.Text(), value=SCORE)

    with pytest.raises(bm.errors.TopologyError, match="top_n\\(\\) needs n to be at least 1"):
        app.stream("in").group_by_key().top_n(n, by="points")


def test_missing_field_is_refused_with_its_location() -> None:
    app = bm.StreamsBuilder("top", key=bm.Text(), value=SCORE)
    app.stream("in").group_by_key().top_n(2, by="point").to_stream().to("out", value=LIST)

    with pytest.raises(bm.errors.ExpressionError, match=r"by of top_n.*test_top_n\.py"):
        TopologyTestDriver(app)
