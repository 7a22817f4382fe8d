"""Programs that read bytes with one serde and write them with another."""

from __future__ import annotations

from typing import Any

import brookmere as bm
from brookmere.testing import TopologyTestDriver


def through(reader: bm.Serde, writer: bm.Serde, datas: list[bytes | None]) -> list[bytes | None]:
    """Return what becomes of bytes that are read and written again."""
    app = bm.StreamsBuilder("through", key=bm.Bytes(), value=reader)
    app.stream("in").to("out", value=writer)
    with TopologyTestDriver(app) as driver:
        feed = driver.input_topic("in", value=bm.Bytes())
        for data in datas:
            feed.pipe_input(data)
        return [
            record.value for record in driver.output_topic("out", value=bm.Bytes()).read_records_to_list()
        ]


def seen(reader: bm.Serde, datas: list[bytes]) -> list[Any]:
    """Return the values that a program sees, or the words of the failure in their place."""
    app = bm.StreamsBuilder("seen", key=bm.Bytes(), value=reader)
    values: list[Any] = []
    app.stream("in").peek(lambda _, value: values.append(value))
    results: list[Any] = []
    with TopologyTestDriver(app, on_error="continue") as driver:
        feed = driver.input_topic("in", value=bm.Bytes())
        for data in datas:
            feed.pipe_input(data)
            results.append(driver.errors.pop().message if driver.errors else values.pop())
    return results


def failure(reader: bm.Serde, data: bytes) -> str:
    """Return why bytes are a bad record."""
    (words,) = seen(reader, [data])
    assert isinstance(words, str)
    return words


def sent(writer: bm.Serde, value: Any) -> list[Any]:
    """Return what a program writes that makes its values itself, and why it fails."""
    app = bm.StreamsBuilder("sent", key=bm.Bytes(), value=bm.Text())
    app.stream("in").map_values(value).to("out", value=writer)
    with TopologyTestDriver(app, on_error="continue") as driver:
        driver.input_topic("in").pipe_input("x")
        if driver.errors:
            return [driver.errors[0].message]
        return [driver.output_topic("out").read_value()]
