"""The states of an application follow each other, and every listener hears of each, in order."""

from __future__ import annotations

import logging
import threading

import pytest

from brookmere.run.lifecycle import Lifecycle, State


def test_states_follow_each_other() -> None:
    life = Lifecycle()
    assert life.state == "created"

    for state in ("running", "stopping", "stopped"):
        assert life.move(state)
        assert life.state == state


@pytest.mark.parametrize(
    ("way", "refused"),
    [
        ((), ("created", "stopping", "failed")),
        (("running",), ("created", "running", "stopped")),
        (("running", "stopping"), ("created", "running", "stopping")),
        (("stopped",), ("running", "stopping", "stopped", "failed")),
        (("running", "failed"), ("running", "stopping", "stopped", "failed")),
    ],
)
def test_a_state_that_cannot_follow_is_refused(way: tuple[State, ...], refused: tuple[State, ...]) -> None:
    life = Lifecycle()
    for state in way:
        life.move(state)
    before = life.state

    assert [life.move(state) for state in refused] == [False] * len(refused)

    assert life.state == before


def test_failure_keeps_its_error() -> None:
    life = Lifecycle()
    life.move("running")
    error = ValueError("broken")

    life.move("failed", error)

    assert life.error is error


def test_listeners_hear_of_each_change_and_their_errors_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    life = Lifecycle()
    heard: list[tuple[State, State]] = []

    def broken(new: State, old: State) -> None:
        raise ValueError("no ears")

    life.listen(broken)
    life.listen(lambda new, old: heard.append((new, old)))
    with caplog.at_level(logging.ERROR):
        life.move("running")
        life.move("stopping")

    assert heard == [("running", "created"), ("stopping", "running")]
    assert [record.getMessage() for record in caplog.records] == [
        "a listener failed on the state running",
        "a listener failed on the state stopping",
    ]


def test_listener_that_moves_on_is_heard_in_order() -> None:
    life = Lifecycle()
    heard: list[State] = []
    life.listen(lambda new, old: life.move("stopping") if new == "running" else None)
    life.listen(lambda new, old: heard.append(new))

    life.move("running")

    assert heard == ["running", "stopping"]


def test_waiting_ends_when_the_listeners_know_of_the_end() -> None:
    life = Lifecycle()
    may_return = threading.Event()
    heard: list[State] = []

    def slow(new: State, old: State) -> None:
        may_return.wait(10)
        heard.append(new)

    life.listen(slow)
    thread = threading.Thread(target=life.move, args=("stopped",))
    thread.start()
    assert not life.wait(0.01)

    may_return.set()

    assert life.wait(10)
    assert heard == ["stopped"]
    thread.join()


def test_listener_can_wait_for_the_end_that_it_hears_of() -> None:
    life = Lifecycle()
    waited: list[bool] = []
    life.listen(lambda new, old: waited.append(life.wait(0)))

    life.move("running")
    life.move("failed", ValueError())

    assert waited == [False, True]
