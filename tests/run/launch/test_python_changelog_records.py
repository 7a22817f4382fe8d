"""The changelogs of stores of Python code contain their rows, over a restart, in a real query."""

from __future__ import annotations

from typing import Any

import pytest

import brookmere as bm
from tests.run.homes import Home
from tests.run.launch.test_changelog_records import GIVEN, KEPT, Given, logged, ms, shown, write

pytestmark = pytest.mark.usefixtures("spark")


class Keeping(bm.Processor):
    """Keeps what comes in a store of every kind."""

    stores = (
        bm.key_value_store("last", key=bm.Text(), value=bm.Text()),
        bm.window_store("windows", key=bm.Text(), value=bm.Long(), window=ms(10), retention=KEPT),
        bm.session_store("sessions", key=bm.Text(), value=bm.Text(), retention=KEPT),
        bm.key_value_store("unlogged", key=bm.Text(), value=bm.Text(), changelog=False),
    )

    def process(self, record: bm.Record) -> None:
        last, windows, sessions = (self.context.store(name) for name in ("last", "windows", "sessions"))
        before = last.get(record.key)
        last.put(record.key, record.value)
        start = record.timestamp // 10 * 10
        windows.put(record.key, (windows.fetch(record.key, start) or 0) + 1, start)
        for session, _ in sessions.find_sessions(record.key, record.timestamp - 4, record.timestamp + 4):
            sessions.remove(session)
        sessions.put(bm.WindowedKey(record.key, record.timestamp, record.timestamp), record.value or "-")
        self.context.store("unlogged").put(record.key, before)


def everything() -> tuple[bm.StreamsBuilder, dict[str, tuple[bm.Serde, bm.Serde]]]:
    """Return a program with stores of Python code, and what their changelogs are written with."""
    app = bm.StreamsBuilder("kept", key=bm.Text(), value=bm.Text())
    stream = app.stream("in")
    stream.process(Keeping)
    grouped = stream.group_by_key()
    joined = bm.python(lambda value, aggregate: aggregate + (value or "-"), returns=str)
    grouped.aggregate("", joined, store="joined")
    tumbling = bm.TimeWindows(ms(10), grace=ms(10))
    grouped.windowed_by(tumbling).aggregate("", joined, store="folded", retention=KEPT)
    grouped.windowed_by(tumbling, emit="close").aggregate("", joined, store="closing", retention=KEPT)
    stream.to_table().map_values(bm.python(lambda value: len(value), returns="bigint"), store="measured")
    text = bm.Text()
    window, session = bm.Windowed(text, size=ms(10)), bm.Windowed(text, session=True)
    return app, {
        "last": (text, text),
        "windows": (window, bm.Long()),
        "sessions": (session, text),
        "joined": (text, text),
        "folded": (window, text),
        "closing": (window, text),
        "measured": (text, bm.Long()),
    }


@pytest.mark.parametrize("emit", ["every", "last"])
def test_changelogs_have_the_rows_of_stores_that_python_keeps(home: Home, emit: Any) -> None:
    program, serdes = everything()
    home.topics.create("in", 2)
    given: Given = {"in": GIVEN["in"]}
    batches: list[Given] = [{"in": given["in"][:4]}, {"in": given["in"][4:]}]

    for batch in batches:
        write(home, batch)
        home.run(program, statestore__cache__max__bytes=0 if emit == "every" else 1)

    found = {name: logged(home, f"kept-{name}-changelog", *serdes[name]) for name in serdes}
    expected = shown(program, batches, list(serdes), emit)
    for name in serdes:
        assert (name, found[name]) == (name, expected[name])
        assert found[name]
    assert "kept-unlogged-changelog" not in home.topics
