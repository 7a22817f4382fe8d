from __future__ import annotations

import asyncio
import re
import signal
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from brookmere.worker.functions.stream_functions import (
    AsyncCalls,
    FilterWork,
    FlatMapValuesWork,
    MapValuesWork,
    MapWork,
    SelectKeyWork,
    UserFunction,
)
from tests.worker.alone import LONG, Alone
from tests.worker.types.test_python_values import code, struct


def function(call: Callable[..., Any], is_factory: bool = False, **calls: Any) -> UserFunction:
    return UserFunction(call, "mapper of map_values", "app.py:3", is_factory, calls=AsyncCalls(**calls))


class Service:
    """Answers the calls in the order in which it likes, and knows how many there were at a time."""

    def __init__(self) -> None:
        self.now = 0
        self.most = 0
        self.asked: list[str] = []

    async def answer(self, value: str) -> str:
        self.asked.append(value)
        self.now += 1
        self.most = max(self.most, self.now)
        for _ in range(ord(value[0]) % 7):
            await asyncio.sleep(0)
        self.now -= 1
        return value.upper()


def test_answers_come_in_the_order_of_the_records() -> None:
    service = Service()
    node = Alone(MapValuesWork(function(service.answer, concurrency=5)))
    letters = "qwertyuiopasdfghjklzxcvbnm"

    found = node.receive(*[("k", letter) for letter in letters])

    assert found == [("k", letter.upper()) for letter in letters]
    node.close()


def test_no_more_calls_run_at_a_time_than_allowed() -> None:
    service = Service()
    node = Alone(MapValuesWork(function(service.answer, concurrency=3)))

    node.receive(*[("k", letter) for letter in "gngngngng"])

    assert service.most == 3
    node.close()


@pytest.mark.parametrize(
    ("work", "call", "sent"),
    [
        (MapWork, lambda key, value: (value, key), [("v", "k")]),
        (SelectKeyWork, lambda value: value + "!", [("v!", "v")]),
        (FilterWork, lambda value: value == "v", [("k", "v")]),
        (FilterWork, lambda value: value != "v", []),
        (FlatMapValuesWork, lambda value: [value, value], [("k", "v"), ("k", "v")]),
    ],
)
def test_every_operator_may_wait(work: Any, call: Any, sent: list[tuple[str, str]]) -> None:
    async def two(key: str, value: str) -> Any:
        return call(key, value)

    async def one(value: str) -> Any:
        return call(value)

    node = Alone(work(function(two if call.__code__.co_argcount == 2 else one)))

    assert node.receive(("k", "v")) == sent
    assert node.errors == []
    node.close()


def test_an_asynchronous_generator_gives_many_records() -> None:
    async def letters(value: str) -> AsyncIterator[str]:
        for letter in value:
            await asyncio.sleep(0)
            yield letter

    node = Alone(FlatMapValuesWork(function(letters)))

    assert node.receive(("k", "ab")) == [("k", "a"), ("k", "b")]
    node.close()


def test_a_call_that_fails_is_the_failure_of_its_record() -> None:
    async def check(value: str) -> str:
        await asyncio.sleep(0)
        if value == "bad":
            raise LookupError("no such thing")
        return value

    node = Alone(MapValuesWork(function(check)))

    assert node.receive(("k", "a"), ("k", "bad"), ("k", "b")) == [("k", "a"), ("k", "b")]
    [(kind, text, trace)] = node.told
    assert [row for row, _ in node.errors] == [1]
    assert (kind, text) == ("LookupError", "no such thing")
    assert re.findall(r"line \d+, in (\w+)", trace) == ["check"]
    node.close()


def test_a_failing_call_is_tried_again() -> None:
    asked: list[str] = []

    async def flaky(value: str) -> str:
        asked.append(value)
        if len(asked) < 3:
            raise ConnectionError("gone")
        return value

    node = Alone(MapValuesWork(function(flaky, retries=2, backoff_ms=1)))

    assert node.receive(("k", "a")) == [("k", "a")]
    assert asked == ["a", "a", "a"]
    node.close()


def test_the_last_attempt_tells_why_it_failed() -> None:
    asked: list[str] = []

    async def never(value: str) -> str:
        asked.append(value)
        raise ConnectionError(f"gone {len(asked)}")

    node = Alone(MapValuesWork(function(never, retries=1)))

    assert node.receive(("k", "a")) == []
    assert str(node.errors[0][1]) == "gone 2"
    node.close()


def test_a_call_that_takes_too_long_is_cancelled() -> None:
    cancelled: list[str] = []

    async def hang(value: str) -> str:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(value)
            raise
        return value

    node = Alone(MapValuesWork(function(hang, timeout_ms=20)))

    assert node.receive(("k", "a")) == []
    assert type(node.errors[0][1]) is TimeoutError
    assert str(node.errors[0][1]) == (
        "The mapper of map_values at app.py:3 took longer than 0.02 s; "
        "give it more time by timeout=, or more attempts by retries="
    )
    assert cancelled == ["a"]
    # The traceback tells where it hung, and not who called it.
    assert "in hang" in node.told[0][2]
    assert "brookmere/worker" not in node.told[0][2]
    node.close()


def test_the_functions_own_time_limit_is_told_as_it_is() -> None:
    async def impatient(value: str) -> str:
        raise TimeoutError("the service is slow")

    node = Alone(MapValuesWork(function(impatient, timeout_ms=10_000)))

    node.receive(("k", "a"))

    assert str(node.errors[0][1]) == "the service is slow"
    node.close()


def test_a_call_that_is_cancelled_by_what_it_calls_fails_alone() -> None:
    async def gives_up(value: str) -> str:
        if value == "bad":
            raise asyncio.CancelledError
        return value

    node = Alone(MapValuesWork(function(gives_up)))

    assert node.receive(("k", "bad"), ("k", "a")) == [("k", "a")]
    assert "was cancelled by what it calls" in str(node.errors[0][1])
    node.close()


def test_a_call_that_cancels_the_task_it_runs_in_fails_alone() -> None:
    async def gives_up(value: str) -> str:
        task = asyncio.current_task()
        if value == "bad" and task is not None:
            task.cancel()
        await asyncio.sleep(0)
        return value

    node = Alone(MapValuesWork(function(gives_up, concurrency=1)))

    assert node.receive(("k", "bad"), ("k", "a")) == [("k", "a")]
    assert "was cancelled by what it calls" in str(node.errors[0][1])
    node.close()


def test_a_call_that_exits_fails_alone() -> None:
    async def exits(value: str) -> str:
        return sys.exit(3) if value == "bad" else value

    node = Alone(MapValuesWork(function(exits)))

    assert node.receive(("k", "bad"), ("k", "a")) == [("k", "a")]
    assert isinstance(node.errors[0][1], SystemExit)
    node.close()


def test_a_function_that_is_not_asynchronous_is_told_so() -> None:
    node = Alone(MapValuesWork(function(lambda value: value)))

    node.receive(("k", "a"))

    assert "must return something to await, found str 'a'; write it with async def" in str(node.errors[0][1])
    node.close()


class Client:
    """Belongs to the loop in which it was opened, as clients of services do."""

    said: ClassVar[list[str]] = []

    async def open(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[str] = asyncio.Queue()
        self.said.append("open")

    async def __call__(self, value: str) -> str:
        assert asyncio.get_running_loop() is self._loop
        await self._queue.put(value)
        return await self._queue.get()

    async def close(self) -> None:
        assert asyncio.get_running_loop() is self._loop
        self.said.append("close")


def test_a_client_lives_in_one_loop_for_all_chunks() -> None:
    Client.said = []
    node = Alone(MapValuesWork(function(Client, is_factory=True)))

    assert node.receive(("k", "a")) == [("k", "a")]
    assert node.receive(("k", "b"), ("k", "c")) == [("k", "b"), ("k", "c")]
    assert node.errors == []
    node.close()

    assert Client.said == ["open", "close"]


def test_open_and_close_need_not_be_asynchronous() -> None:
    class Plain:
        def open(self) -> None:
            self.loop = asyncio.get_running_loop()

        async def __call__(self, value: str) -> str:
            return str(asyncio.get_running_loop() is self.loop)

    node = Alone(MapValuesWork(function(Plain, is_factory=True)))

    assert node.receive(("k", "a")) == [("k", "True")]
    node.close()


def test_functions_wait_where_the_caller_has_a_loop_of_its_own() -> None:
    node = Alone(MapValuesWork(function(Client, is_factory=True)))

    async def notebook() -> list[tuple[Any, ...]]:
        found = node.receive(("k", "a"))
        node.close()
        return found

    assert asyncio.run(notebook()) == [("k", "a")]
    assert node.errors == []


def test_what_still_runs_at_the_end_is_cancelled() -> None:
    ended: list[str] = []

    async def background() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("ended")

    class Watching:
        async def open(self) -> None:
            self.task = asyncio.create_task(background())

        async def __call__(self, value: str) -> str:
            await asyncio.sleep(0)
            return value

    node = Alone(MapValuesWork(function(Watching, is_factory=True)))
    node.receive(("k", "a"))

    node.close()

    assert ended == ["ended"]


def test_functions_see_python_values() -> None:
    async def price(value: dict[str, Any]) -> int:
        return int(value["price"] * 100)

    kind = code(struct(price="decimal(10,2)"))
    node = Alone(MapValuesWork(function(price)), value=kind, out_value=LONG)

    assert node.receive(("k", {"price": "1.25"})) == [("k", 125)]
    node.close()


def test_a_record_that_python_cannot_hold_fails_alone() -> None:
    async def year(value: Any) -> int:
        return int(value.year)

    node = Alone(MapValuesWork(function(year)), value=code("date"), out_value=LONG)

    assert node.receive(("k", 10**7), ("k", 0)) == [("k", 1970)]
    assert [row for row, _ in node.errors] == [0]
    node.close()


@dataclass
class Adding:
    suffix: str

    async def __call__(self, value: str) -> str:
        return value + self.suffix


def test_an_object_without_a_hash_may_be_the_function() -> None:
    node = Alone(MapValuesWork(function(Adding("!"))))

    assert node.receive(("k", "v")) == [("k", "v!")]
    node.close()


def test_a_chunk_without_records_is_no_call() -> None:
    node = Alone(MapValuesWork(function(Service().answer)))

    assert node.receive() == []
    node.close()


def test_calls_are_interrupted_by_the_keyboard() -> None:
    ended: list[str] = []

    async def interrupt(value: str) -> str:
        if value == "stop":
            signal.raise_signal(signal.SIGINT)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(value)
        return value

    node = Alone(MapValuesWork(function(interrupt)))
    # Spark has a handler of its own where it runs in the same process.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    try:
        with pytest.raises(KeyboardInterrupt):
            node.receive(("k", "a"), ("k", "stop"))
    finally:
        signal.signal(signal.SIGINT, before)
    node.close()

    assert sorted(ended) == ["a", "stop"]
