"""A page shows all routes and tries them, in a browser that reaches nothing but the server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route

from brookmere.serve import Server, create_api
from brookmere.state import Replica


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.route("**/*", _only_here)
    yield page
    page.close()
    assert failures == []


def _only_here(route: Route) -> None:
    assert route.request.url.startswith("http://127.0.0.1:"), route.request.url
    route.continue_()


def test_a_key_is_read_on_the_page(server: Server, page: Page) -> None:
    page.goto(f"{server.url}/docs")
    page.locator("summary", has_text="/stores/boards/{key}").click()
    form = page.locator("details[open] form")

    form.locator("input[name=key]").fill('{"game":"go","day":3}')
    form.locator("button").click()

    page.wait_for_selector("details[open] pre:has-text('\"timestamp\": 1000')")
    assert "200 OK" in form.locator("pre").inner_text()


def test_updates_are_shown_until_they_are_stopped(server: Server, page: Page) -> None:
    page.goto(f"{server.url}/docs")
    page.locator("summary", has_text="/updates/{name}/{key}").click()
    form = page.locator("details[open] form")

    form.locator("input[name=name]").fill("totals")
    form.locator("input[name=key]").fill("cy/d")
    form.locator("button").click()

    page.wait_for_selector("details[open] pre:has-text('\"value\":2')")
    assert form.locator("button").inner_text() == "Stop"
    form.locator("button").click()
    page.wait_for_selector("details[open] button:has-text('Send')")


def test_the_page_asks_for_the_token(replica: Replica, page: Page) -> None:
    with Server(create_api(replica, token="secret"), port=0) as server:
        page.goto(f"{server.url}/docs")
        page.wait_for_selector("#failure:has-text('Give the token')")

        page.locator("#token").fill("secret")
        page.locator("#token").press("Enter")

        page.wait_for_selector("summary:has-text('/stores/totals')")
        assert page.locator("#failure").inner_text() == ""
