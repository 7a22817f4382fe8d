"""Python functions in the workers of an application: what fails, what is opened, and what is closed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import brookmere as bm
from tests.run.homes import Home, until

pytestmark = pytest.mark.usefixtures("spark")

PASSING = {
    "processing__exception__handler": "continue",
    "errors__dead__letter__queue__topic__name": "dead",
}


def divided(value: str) -> int:
    return 100 // int(value)


def parsed(batch: pa.RecordBatch) -> pa.Array:
    return pc.cast(batch["value"], pa.int64())


async def lookup(value: str) -> int:
    return {"1": 10, "2": 20}[value]


def numbers(function: Any) -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("numbers", key=bm.Text(), value=bm.Text())
    app.stream("in").map_values(function).to("out", value=bm.Long())
    return app


@pytest.mark.parametrize(
    ("function", "bad", "kind", "text", "where"),
    [
        (bm.python(divided), "0", "ZeroDivisionError", "integer division or modulo by zero", "divided"),
        (
            bm.python(parsed, returns="bigint", batch="arrow"),
            "x",
            "pyarrow.lib.ArrowInvalid",
            "Failed to parse string: 'x' as a scalar of type int64",
            "parsed",
        ),
        (bm.python_async(lookup, retries=1), "3", "KeyError", "'3'", "lookup"),
    ],
    ids=["record", "batch", "asynchronous"],
)
def test_a_dead_letter_says_where_the_function_failed(
    home: Home, function: Any, bad: str, kind: str, text: str, where: str
) -> None:
    home.write("in", "1", bad, "2")

    home.run(numbers(function), **PASSING)

    assert len(home.read("out", bm.Long())) == 2
    (letter,) = home.topics["dead"].read(0)
    headers = {name: (value or b"").decode() for name, value in letter.headers}
    assert letter.value == bad.encode()
    assert headers["__streams.errors.exception"] == kind
    assert headers["__streams.errors.message"] == text
    frames = re.findall(r'File "(.*)", line \d+, in (\w+)', headers["__streams.errors.stacktrace"])
    assert (Path(frames[0][0]).name, frames[0][1]) == (Path(__file__).name, where)


class Telling:
    """Writes down when it is opened and closed."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def open(self) -> None:
        self._tell("open")

    def close(self) -> None:
        self._tell("close")

    def __call__(self, value: str) -> str:
        self._tell(value)
        return value

    def _tell(self, word: str) -> None:
        with self._file.open("a") as file:
            file.write(f"{word} ")


def test_an_object_is_opened_before_the_first_record_and_closed_with_its_worker(home: Home) -> None:
    file = home.directory / "told"

    def telling() -> Telling:
        return Telling(file)

    app = bm.StreamsBuilder("telling", key=bm.Text(), value=bm.Text())
    app.stream("in").map_values(bm.python(telling, returns=str)).to("out")
    home.write("in", "a")
    with home.application(app) as application:
        application.process_all_available()
        home.write("in", "b")
        application.process_all_available()

    until(lambda: file.read_text() == "open a b close ")
