"""The page of the leaderboard demo, in a real browser, served by a real application."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import brookmere as bm
from brookmere.serve import Server
from brookmere.serve.routes.static_page import page_routes
from examples.leaderboard import app, routes

PATIENCE_MS = 60_000


class Arcade:
    """An application that runs, and its topics."""

    def __init__(self, directory: Path) -> None:
        self.topics = bm.Topics(directory / "topics")
        for topic in ("players", "products", "score-events"):
            self.topics.create(topic)
        settings = {"topics.dir": self.topics.directory, "state.dir": directory / "state"}
        self.application = bm.Application(app, settings)
        self._time = 0

    def name(self, topic: str, id: int, name: str) -> None:
        self._append(topic, str(id).encode(), {"id": id, "name": name})

    def play(self, player: int, product: int, score: float) -> None:
        self._append("score-events", None, {"score": score, "product_id": product, "player_id": player})

    def serve(self, address: str = "127.0.0.1:0") -> Server:
        html = files("brookmere.cli.demo.leaderboard").joinpath("page.html").read_text()
        return bm.serve(self.application, address, routes=[routes, page_routes("/", html)])

    def _append(self, topic: str, key: bytes | None, value: object) -> None:
        self._time += 1
        self.topics[topic].append([bm.Record(key, json.dumps(value).encode(), self._time)])


@pytest.fixture(scope="module")
def arcade(spark: object, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arcade]:
    arcade = Arcade(tmp_path_factory.mktemp("arcade"))
    for id, name in [(1, "Ada"), (2, "Bruno")]:
        arcade.name("players", id, name)
    with arcade.application:
        yield arcade


@pytest.fixture
def server(arcade: Arcade) -> Iterator[Server]:
    with arcade.serve() as server:
        yield server


def shows(page: Page, game: int, *rows: str) -> None:
    expect(page.locator(f"#game-{game} li")).to_have_text(list(rows), timeout=PATIENCE_MS)


def is_live(page: Page) -> None:
    expect(page.get_by_role("status")).to_have_text("live", timeout=PATIENCE_MS)


def test_board_updates_without_a_reload_and_games_are_in_order(
    arcade: Arcade, server: Server, browser: Browser
) -> None:
    page = browser.new_page(reduced_motion="reduce")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(server.url)
    is_live(page)

    arcade.name("products", 10, "The Last Ferry")
    arcade.name("products", 6, "Heron and Frog")
    arcade.play(1, 10, 1020.5)
    arcade.play(1, 6, 422)
    arcade.play(2, 6, 655)

    shows(page, 6, "1Bruno655", "2Ada422")
    shows(page, 10, "1Ada1,020.5")
    arcade.play(1, 6, 900)
    shows(page, 6, "1Ada900", "2Bruno655", "3Ada422")
    names = [title for title in page.locator("h2 .name").all_inner_texts() if title[0] in "HT"]
    assert names == ["Heron and Frog", "The Last Ferry"]
    expect(page.locator("#changed")).to_contain_text("changes, last at")
    # Nothing comes from elsewhere, the icon of the page included.
    assert all(url.startswith((server.url, "data:")) for url in asked)


def test_existing_boards_are_shown_when_the_page_opens(
    arcade: Arcade, server: Server, browser: Browser
) -> None:
    arcade.name("products", 20, "Eel Run")
    arcade.play(2, 20, 7)
    first = browser.new_page()
    first.goto(server.url)
    shows(first, 20, "1Bruno7")

    second = browser.new_page()
    second.goto(server.url)

    shows(second, 20, "1Bruno7")
    expect(second.locator("#changed")).to_have_text("")


def test_names_are_text_and_never_markup(arcade: Arcade, server: Server, browser: Browser) -> None:
    evil = "<img src=x onerror=\"document.title='taken'\">"
    arcade.name("players", 66, evil)
    arcade.name("products", 30, f"<b>{evil}</b>")
    arcade.play(66, 30, 5)

    page = browser.new_page()
    page.goto(server.url)

    shows(page, 30, f"1{evil}5")
    expect(page.locator("#game-30 .name")).to_have_text(f"<b>{evil}</b>")
    assert page.locator("main img, main b").count() == 0
    assert page.title() == "Leaderboard"


def test_lost_connection_is_shown_and_resumes_with_missed_updates(arcade: Arcade, browser: Browser) -> None:
    arcade.name("products", 40, "Weir")
    arcade.play(1, 40, 1)
    page = browser.new_page()
    with arcade.serve() as before:
        page.goto(before.url)
        shows(page, 40, "1Ada1")
        is_live(page)

    expect(page.get_by_role("status")).to_have_text("connection lost, trying again", timeout=PATIENCE_MS)
    arcade.play(2, 40, 2)
    arcade.application.process_all_available()
    with arcade.serve(before.address):
        is_live(page)
        shows(page, 40, "1Bruno2", "2Ada1")


def test_page_fits_a_phone_and_the_readers_colours(arcade: Arcade, server: Server, browser: Browser) -> None:
    arcade.name("players", 77, "Wilhelmina Featherstonehaugh of the Upper Brook and Lower Mere")
    arcade.name("products", 50, "A Game Whose Name Is Longer Than Any Phone Is Wide, And Then Some")
    arcade.play(77, 50, 123_456_789)
    grounds = set()
    for scheme in ("light", "dark"):
        page = browser.new_page(viewport={"width": 360, "height": 740}, color_scheme=scheme)
        page.goto(server.url)
        expect(page.locator("#game-50 .score")).to_have_text("123,456,789", timeout=PATIENCE_MS)
        grounds.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))

        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        score = page.locator("#game-50 .score").bounding_box()
        assert score is not None
        assert score["x"] + score["width"] <= 360
    assert len(grounds) == 2
