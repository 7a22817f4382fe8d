"""Sample players and games, and a random stream of scores."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Generator
from typing import Any

import brookmere as bm
from brookmere.cli.demo.directory import example
from brookmere.topics import Topics

TOPICS = ("players", "products", "score-events")

_SEED = 7
_ROW = bm.Json("id bigint, name string")
_EVENT = bm.Json("score double, product_id bigint, player_id bigint")


def season(topics: Topics) -> Generator[str, None, None]:
    """Write the players and games, then scores forever; yield a line to show for each score."""
    # A second season in the same topics continues where the first one ended.
    before = sum(topics["score-events"].end_offsets())
    chance = random.Random(_SEED + before)
    players, products = (_announce(topics, name) for name in ("players", "products"))
    skills = {player["id"]: chance.gauss(400, 60) for player in players}
    with topics.producer("score-events", key=bm.Text(), value=_EVENT) as producer:
        for played in itertools.count(before):
            player, product = chance.choice(players), chance.choice(products)
            # Everybody improves with practice, so that the boards keep changing.
            score = float(max(1, round(chance.gauss(skills[player["id"]] + 4 * played, 120))))
            producer.send(value={"score": score, "product_id": product["id"], "player_id": player["id"]})
            yield f"{player['name']} scored {score:,.0f} in {product['name']}"


def _announce(topics: Topics, topic: str) -> list[dict[str, Any]]:
    lines = example(f"data/leaderboard/{topic}.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    with topics.producer(topic, key=bm.Text(), value=_ROW) as producer:
        for row in rows:
            producer.send(row["key"], row["value"])
    return [row["value"] for row in rows]
