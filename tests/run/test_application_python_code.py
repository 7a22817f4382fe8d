"""Applications with Python code: state, changelogs, failures, and programs that change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import brookmere as bm
from tests.run.homes import Home, until
from tests.run.query.test_workers import is_gone

pytestmark = pytest.mark.usefixtures("spark")


class Adding(bm.Processor):
    """Adds up the numbers of a key."""

    stores = (bm.key_value_store("sums", key=bm.Text(), value=bm.Long()),)

    def process(self, record: bm.Record) -> None:
        sums = self.context.store("sums")
        sums.put(record.key, (sums.get(record.key) or 0) + int(record.value))
        self.context.forward(record.with_value(str(sums.get(record.key))))


class Louder(Adding):
    """Does the same in other words."""

    def process(self, record: bm.Record) -> None:
        sums = self.context.store("sums")
        total = (sums.get(record.key) or 0) + int(record.value)
        sums.put(record.key, total)
        self.context.forward(record.with_value(f"{total}!"))


def adding(processor: type[bm.Processor] = Adding) -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("adding", key=bm.Text(), value=bm.Text())
    app.stream("in").process_values(processor).to("out")
    return app


def test_a_changed_processor_keeps_its_store(home: Home) -> None:
    home.write("in", "1", "2")
    home.run(adding())
    home.write("in", "4")

    with home.application(adding(Louder)) as application:
        application.process_all_available()

        assert application.store("sums").get("k") == 7
    assert home.read("out") == ["1", "3", "7!"]


def test_dead_letters_contain_the_exception_and_the_trace_of_python(home: Home) -> None:
    home.write("in", "1", "two", "4")
    settings = {
        "errors__dead__letter__queue__topic__name": "dead",
        "processing__exception__handler": "continue",
    }

    home.run(adding(), **settings)

    assert home.read("out") == ["1", "5"]
    [letter] = home.topics["dead"].read(0)
    headers = dict(letter.headers)
    assert letter.value == b"two"
    assert headers["__streams.errors.exception"] == b"ValueError"
    assert headers["__streams.errors.message"] == b"invalid literal for int() with base 10: 'two'"
    trace = (headers["__streams.errors.stacktrace"] or b"").decode()
    assert "test_application_python_code.py" in trace
    assert "int(record.value)" in trace


def test_code_that_fails_outside_of_a_record_ends_the_application_with_its_trace(home: Home) -> None:
    class Broken(Adding):
        def init(self, context: bm.ProcessorContext) -> None:
            raise OSError("no such model")

    home.write("in", "1")

    with pytest.raises(
        bm.errors.EngineError, match=r"Found: OSError: no such model\.[\s\S]*in init"
    ) as failure:
        home.run(adding(Broken))

    assert not isinstance(failure.value, bm.errors.WorkerError)


def test_code_that_never_comes_back_does_not_keep_an_application_from_stopping(home: Home) -> None:
    file = home.directory / "pid"
    path = str(file)

    def waiting(value: str) -> str:
        import threading

        Path(path).write_text(str(os.getpid()))
        threading.Event().wait()
        return value

    app = bm.StreamsBuilder("waiting", key=bm.Text(), value=bm.Text())
    app.stream("in").map_values(bm.python(waiting)).to("out")
    home.write("in", "a")
    application = home.application(app)
    application.start()
    until(lambda: file.exists() and bool(file.read_text()))

    application.stop(timeout="0.1s")

    until(lambda: is_gone(int(file.read_text())))
