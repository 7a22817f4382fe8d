"""The worker and its messages: code that is sent, pipes, what is made once, and what ends it."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import cloudpickle
import pytest

from brookmere.record import Record
from brookmere.worker.api.processor import Processor
from brookmere.worker.protocol.channel import PipeChannel, encoded
from brookmere.worker.protocol.process import Process
from brookmere.worker.protocol.server import Server, serve
from brookmere.worker.protocol.stage_code import NodeCode, ProcessWork, Running, Runtime, TypeCode
from tests.worker.jvm import Fed, Jvm, WorkerFailedError, stage_of
from tests.worker.processors import COUNTS, Count


class Twice(Processor):
    def process(self, record: Record) -> None:
        print("user code may print")  # noqa: T201 - that is what it is about
        self.context.forward(record.with_value(record.value * 2))


CODE = stage_of(ProcessWork(Twice, False, False, False))
COLUMNS = (0, ["a", "b"], [1, 2], [5, 6], None, [0, 0], [0, 1])


def message(kind: str, payload: Any) -> bytes:
    data = encoded(payload)
    return kind.encode() + struct.pack(">i", len(data)) + data


def conversation() -> bytes:
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        code = cloudpickle.dumps(CODE)
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    return b"".join(
        message(kind, payload)
        for kind, payload in [
            ("D", (1, code)),
            ("B", (1, 0, True, {}, None)),
            ("C", (1, 0, *COLUMNS)),
            ("E", (1, 0)),
        ]
    )


def answers(data: bytes) -> list[tuple[str, Any]]:
    channel = PipeChannel(io.BytesIO(data), io.BytesIO())
    found = []
    while (answer := channel.receive()) is not None:
        found.append(answer)
    return found


def test_code_comes_pickled_and_results_go_back() -> None:
    out = io.BytesIO()

    serve(PipeChannel(io.BytesIO(conversation()), out))

    (first, result), (last, end) = answers(out.getvalue())
    assert (first, last) == ("R", "R")
    assert result[:8] == ([0, 1], 0, -1, b"\x01\x01", [None, None], [2, 4], [5, 6], None)
    assert result[8:] == ([], [], [0, 2, 2, 0, 0], {})
    assert end[0] == []


def test_a_process_serves_by_its_pipes_and_ends_with_them() -> None:
    source = str(Path(__file__).parents[3] / "src")

    done = subprocess.run(
        [sys.executable, "-m", "brookmere.worker"],
        input=conversation(),
        capture_output=True,
        timeout=60,
        check=True,
        env={**os.environ, "PYTHONPATH": source},
    )

    assert [kind for kind, _ in answers(done.stdout)] == ["R", "R"]
    assert done.stderr.decode().count("user code may print") == 2


def test_a_message_that_nobody_knows_fails_the_batch_and_not_the_worker() -> None:
    out = io.BytesIO()

    serve(PipeChannel(io.BytesIO(message("Z", None) + conversation()), out))

    (kind, text), *rest = answers(out.getvalue())
    assert kind == "X"
    assert "unknown message kind 'Z'" in text
    assert [kind for kind, _ in rest] == ["R", "R"]


def test_q_ends_the_loop() -> None:
    out = io.BytesIO()

    serve(PipeChannel(io.BytesIO(message("Q", None) + conversation()), out))

    assert out.getvalue() == b""


def test_an_interrupt_passes_through() -> None:
    class Interrupted(Processor):
        def process(self, record: Record) -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Jvm(stage_of(ProcessWork(Interrupted))).batch(("a", 1))


def test_a_jvm_that_goes_away_in_the_middle_of_a_question_ends_the_loop() -> None:
    class Silent:
        def __init__(self) -> None:
            self.incoming = [("B", (1, 0, True, {}, None)), ("C", (1, 0, *COLUMNS))]
            self.sent: list[str] = []

        def receive(self) -> Any:
            return self.incoming.pop(0) if self.incoming else None

        def send(self, kind: str, payload: Any) -> None:
            self.sent.append(kind)

    channel = Silent()
    Server(channel, {1: stage_of(ProcessWork(Count), COUNTS)}).run()

    assert channel.sent == ["S"]


class Model:
    """Made once per process."""

    log: ClassVar[list[str]] = []

    def open(self) -> None:
        self.log.append("open")

    def close(self) -> None:
        self.log.append("close")
        raise ValueError("it does not matter any more")


def test_what_is_made_once_is_opened_once_and_closed_at_the_end() -> None:
    Model.log.clear()

    class Using:
        def build(self, node: NodeCode, runtime: Runtime) -> Running:
            assert runtime.once(Model) is runtime.once(Model)
            return Running()

    jvm = Jvm(stage_of(Using()))
    jvm.begin(0)
    jvm.begin(1)
    assert Model.log == ["open"]

    jvm.server.close()
    assert Model.log == ["open", "close"]


def test_what_cannot_be_opened_is_tried_again() -> None:
    class Unlucky:
        tries = 0

        def open(self) -> None:
            type(self).tries += 1
            if self.tries == 1:
                raise OSError("not yet")

    process = Process(PipeChannel(io.BytesIO(), io.BytesIO()))

    with pytest.raises(OSError, match="not yet"):
        process.once(Unlucky)
    assert process.once(Unlucky) is process.once(Unlucky)


def test_a_task_that_could_not_begin_begins_at_the_next_try() -> None:
    class Unlucky(Processor):
        tries: ClassVar[list[int]] = []

        def init(self, context: Any) -> None:
            self.tries.append(1)
            if len(self.tries) == 1:
                raise OSError("not yet")

        def process(self, record: Record) -> None:
            pass

    jvm = Jvm(stage_of(ProcessWork(Unlucky)))
    with pytest.raises(WorkerFailedError, match="not yet"):
        jvm.batch(("a", 1))

    assert jvm.batch(("a", 1)).errors == []


@pytest.mark.parametrize("times", [False, True])
def test_a_value_that_python_cannot_hold_fails_alone(times: bool) -> None:
    class Seen(Processor):
        def process(self, record: Record) -> None:
            self.context.forward(record.with_value(record.value.year))

    code = stage_of(ProcessWork(Seen, False, times, False), value=TypeCode('"date"'))
    answer = Jvm(code).batch(("a", 0), ("b", 10_000_000), ("c", 400))

    assert answer.pairs == [("a", 1970), ("c", 1971)]
    assert [error[0] for error in answer.errors] == [1]


def test_changes_of_a_table_come_with_what_was_before() -> None:
    seen: list[Any] = []

    class Table:
        def build(self, node: NodeCode, runtime: Runtime) -> Running:
            class Taking(Running):
                out = runtime.output(node)

                def receive_change(self, key: Any, new: Any, old: Any, ts: int, is_latest: bool) -> None:
                    seen.append((key, new, old, ts, is_latest))
                    self.out.forward_change(key, new and new * 2, old and old * 2, ts)

            return Taking()

    jvm = Jvm(stage_of(Table(), is_table=True, sends_table=True))

    answer = jvm.batch(Fed("a", (1, None, True), 5), Fed("a", (None, 1, False), 6, headers=[("h", None)]))

    assert seen == [("a", 1, None, 5, True), ("a", None, 1, 6, False)]
    assert answer.values == [(2, None), (None, 2)]
    assert answer.sent[1].headers == [("h", None)]
