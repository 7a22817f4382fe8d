"""Keep the three best scores of every game, and serve them over HTTP.

Run it on embedded topics in the directory .brookmere, and stop it with Ctrl-C:

    brookmere run examples/leaderboard.py --create-topics --serve 127.0.0.1:7000

In another terminal, add players and games, and let them play:

    brookmere produce players examples/data/leaderboard/players.jsonl --format json
    brookmere produce products examples/data/leaderboard/products.jsonl --format json
    brookmere produce score-events examples/data/leaderboard/score-events.jsonl

Then query all games, and one of them:

    curl http://127.0.0.1:7000/leaderboard
    curl http://127.0.0.1:7000/leaderboard/6

Players and products are rows of tables: their keys are their ids, as text. Scores are events without a key. A
score of a player without a row is ignored, because the player is not known yet; so is one of an unknown
product, and one that is not JSON. `brookmere demo leaderboard` shows all this at work, with a page to watch
it.
"""

from dataclasses import dataclass

from fastapi import APIRouter, HTTPException
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.serve import Stores


@dataclass
class ScoreEvent:
    score: float | None
    product_id: int | None
    player_id: int | None


@dataclass
class Named:
    """A player or a product."""

    id: int | None
    name: str | None


@dataclass
class Entry:
    """One line of a board, with the field names of its JSON."""

    playerId: int
    productId: int
    playerName: str | None
    gameName: str | None
    score: float


app = bm.StreamsBuilder("leaderboard", key=bm.Text())
players = app.table("players", value=bm.Json(Named), store="players")
products = app.global_table("products", value=bm.Json(Named), store="products")
scores = app.stream("score-events", value=bm.Json(ScoreEvent), on_bad_record="continue")

boards = (
    # NaN and infinity are doubles as well, and could never be beaten.
    scores.filter(lambda event: F.abs(event.score) < float("inf"))
    .select_key(lambda event: event.player_id.cast("string"))
    .join(players, lambda event, player: {"event": event, "player": player}, name="with-player")
    .join(
        products,
        lambda played, product: {
            "playerId": played.event.player_id,
            "productId": played.event.product_id,
            "playerName": played.player["name"],
            "gameName": product["name"],
            "score": played.event.score,
        },
        key=lambda played: played.event.product_id.cast("string"),
        name="with-game",
    )
    .group_by(lambda entry: entry.productId.cast("string"))
    .top_n(3, by="score", store="leader-boards")
)

routes = APIRouter(tags=["leaderboard"])


@routes.get("/leaderboard")
def all_games(stores: Stores) -> dict[str, list[Entry]]:
    """The best scores of every game, by the id of its product."""
    return dict(sorted(stores["leader-boards"].all(), key=lambda row: int(row[0])))


@routes.get("/leaderboard/{product_id}", responses={404: {"description": "Nobody has played this game."}})
def one_game(product_id: int, stores: Stores) -> list[Entry]:
    """The best scores of one game, the highest first."""
    board = stores["leader-boards"].get(str(product_id))
    if board is None:
        raise HTTPException(404, f"Nobody has played the game {product_id} yet.")
    return board
