"""`serve`, `replica --serve` and `run --serve` serve stores and the program's routes over HTTP, by token."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

import brookmere as bm
from tests.cli.conftest import COUNT, Run
from tests.cli.worlds import World, interrupt, started, wait_for

ROUTES = """
from fastapi import APIRouter
from brookmere.serve import Stores

routes = APIRouter()

@routes.get("/busiest")
def busiest(stores: Stores) -> str:
    return max(stores["counts"].all(), key=lambda row: row[1])[0]
"""


@pytest.fixture
def world(folder: Path) -> World:
    made = World(folder)
    made.fill()
    return made


def get(url: str, token: str | None = None) -> Any:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    with urlopen(Request(url, headers=headers), timeout=30) as answer:
        return json.load(answer)


def is_ready(url: str) -> bool:
    try:
        return bool(get(f"{url}/ready")["status"] == "ready")
    except HTTPError:
        return False


def address(said: Callable[[], str], process: Any) -> str:
    """Wait until the command prints its URL."""
    wait_for(lambda: ": serving at " in said(), process, said)
    found = re.search(r"serving at (http://\S+);", said())
    assert found
    return found[1]


def test_stores_of_an_application_that_has_run_are_served(world: World, folder: Path) -> None:
    with started(folder, "serve", "clicks", "--port", "0") as (process, said):
        url = address(said, process)
        wait_for(lambda: is_ready(url), process, said)

        assert get(f"{url}/stores/counts/ada")["value"] == 3
        assert len(get(f"{url}/stores/per-minute/1")["rows"]) == 3
        world.count(ada=4)
        wait_for(lambda: get(f"{url}/stores/counts/ada")["value"] == 4, process, said)
        assert interrupt(process) == 0
    assert "Traceback" not in said()


def test_query_reads_from_the_server(run: Run, world: World, folder: Path) -> None:
    with started(folder, "replica", "clicks", "--in-memory", "--serve", "127.0.0.1:0") as (process, said):
        url = address(said, process)
        wait_for(lambda: is_ready(url), process, said)

        def ask(*arguments: str) -> Any:
            return run("query", "clicks", *arguments, "--url", url)

        one = json.loads(ask("counts", "ada").stdout)
        some = [
            json.loads(line)["key"] for line in ask("counts", "--from", "b", "--reverse").stdout.splitlines()
        ]
        version = json.loads(ask("prices", "tea", "--as-of", "2023-11-14T22:14:00Z").stdout)
        ends = world.topics["clicks-counts-changelog"].end_offsets()
        position = json.dumps({"clicks-counts-changelog": {"0": ends[0]}})
        fresh = ask("counts", "ada", "--at-least", position)

        assert (one["key"], one["value"]) == ("ada", 3)
        assert some == ["carl", "bob"]
        assert version["value"] == 2.5
        assert fresh.exit_code == 0, fresh.stderr
        assert len(ask("per-minute", "1", "--limit", "2").stdout.splitlines()) == 2
        assert ask("counts", "--count").stdout == "3\n"
        assert (ask("counts", "zoe").exit_code, ask("counts", "zoe").stdout) == (1, "")
        assert "Did you mean 'counts'?" in ask("count", "ada").stderr
        assert "expected a 32-bit integer" in ask("per-minute", "ada").stderr
        assert "serves the application clicks, not other" in run("query", "other", "x", "--url", url).stderr


def test_server_waits_for_topics_that_do_not_exist_yet(run: Run, world: World, folder: Path) -> None:
    nowhere = ("--topics-dir", "none-yet", "--store", "counts", "--in-memory")
    with started(folder, "serve", "clicks", "--port", "0", *nowhere) as (process, said):
        url = address(said, process)
        wait_for(lambda: "counts is waiting for the topic clicks-counts-changelog" in said(), process, said)

        assert not is_ready(url)
        assert [store["name"] for store in get(f"{url}/stores")["stores"]] == ["counts"]

        impatient = run("query", "clicks", "counts", "ada", "--url", url, "--timeout", "0")
        created = bm.Topics(folder / "none-yet").create("clicks-counts-changelog")
        created.append([bm.Record(b"ada", bm.Long().serialize(3), 0)])
        patient = run("query", "clicks", "counts", "ada", "--url", url)

    assert "did not catch up within 0 s.\nWait longer with --timeout" in impatient.stderr
    assert json.loads(patient.stdout)["value"] == 3


def test_server_requires_the_token(
    run: Run, world: World, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "token").write_text("open sesame\n")
    options = ("--port", "0", "--token-file", "token", "--in-memory", "--store", "counts")
    with started(folder, "serve", "clicks", *options) as (process, said):
        url = address(said, process)
        with pytest.raises(HTTPError, match="401"):
            get(f"{url}/stores")

        refused = run("query", "clicks", "counts", "ada", "--url", url)
        by_file = run("query", "clicks", "counts", "--url", url, "--token-file", "token")
        monkeypatch.setenv("BROOKMERE_TOKEN", "open sesame\n")
        by_variable = run("query", "clicks", "counts", "--url", url)
        monkeypatch.setenv("BROOKMERE_TOKEN", "open\nsesame")
        by_two_lines = run("query", "clicks", "counts", "--url", url)

    assert "requires a token, and none or a wrong one was given" in refused.stderr
    assert by_file.exit_code == by_variable.exit_code == 0, by_file.stderr + by_variable.stderr
    assert "There is no token in the variable BROOKMERE_TOKEN." in by_two_lines.stderr


def test_routes_of_the_program_are_served(world: World, folder: Path) -> None:
    (folder / "prog.py").write_text(COUNT + ROUTES)
    with started(folder, "serve", "prog.py", "--port", "0", "--name", "own") as (process, said):
        url = address(said, process)
        wait_for(lambda: is_ready(url), process, said)

        assert get(f"{url}/busiest") == "carl"
        assert "Topologies:" in urlopen(f"{url}/topology", timeout=30).read().decode()
    assert (world.state / "replicas" / "own").is_dir()


@pytest.mark.parametrize("command", ["serve", "run"])
@pytest.mark.parametrize(
    ("code", "arguments", "words"),
    [
        ("", ["{taken}"], "The server cannot listen at 127.0.0.1:"),
        ("", ["127.0.0.1:0", "--token-file", "none"], "The token file none cannot be read: No such file"),
        ("", ["127.0.0.1:0", "--token-file", "empty"], "There is no token in empty."),
        ("routes = {'a': 1}\n", ["127.0.0.1:0"], "Routes must be a fastapi.APIRouter, found dict"),
        (
            "from fastapi import APIRouter\nroutes = APIRouter()\nroutes.get('/status')(print)\n",
            ["127.0.0.1:0"],
            "The path of the route /status is already taken",
        ),
    ],
)
def test_serving_errors_are_reported_before_anything_starts(
    run: Run, world: World, folder: Path, command: str, code: str, arguments: list[str], words: str
) -> None:
    (folder / "prog.py").write_text(COUNT + code)
    (folder / "empty").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place, *more = [text.format(taken=f"127.0.0.1:{taken.getsockname()[1]}") for text in arguments]
        host, _, port = place.partition(":")
        where = ["--serve", place] if command == "run" else ["--host", host, "--port", port]

        shown = run(command, "prog.py", *where, *more)

    assert shown.exit_code == 1
    assert words in shown.stderr
    assert "Traceback" not in shown.stderr


def test_invalid_address_is_explained(run: Run, world: World) -> None:
    shown = run("replica", "clicks", "--serve", "7000")

    assert shown.exit_code == 1
    assert "'7000' is not an address to listen on. Pass a host and a port" in shown.stderr


def test_running_application_serves_its_stores(run: Run, folder: Path) -> None:
    (folder / "prog.py").write_text(COUNT + ROUTES)
    world = World(folder)
    lines = "ada:/home\nbob:/buy\nada:/buy\n"
    run("produce", "clicks", "--create", "--key-separator", ":", stdin=lines)
    with started(folder, "run", "prog.py", "--serve", "127.0.0.1:0") as (process, said):
        url = address(said, process)
        wait_for(lambda: len(get(f"{url}/stores/counts?timeout=60")["rows"]) == 2, process, said)

        assert get(f"{url}/stores/counts/ada")["value"] == 2
        assert get(f"{url}/busiest") == "ada"
        assert get(f"{url}/status")["state"] == "running"
        assert interrupt(process) == 0
    assert said().endswith("clicks: stopped\n")
    assert (world.state / "replicas" / "local" / "counts").is_dir()
