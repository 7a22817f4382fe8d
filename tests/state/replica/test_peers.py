"""Replicas of an application know each other through a topic."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from brookmere.record import Record
from brookmere.state.replica.peers import Peer, Peers, PeerStore, replicas_topic
from brookmere.topics import Topics

STORES = (PeerStore("totals", (0, 1), 3, True),)
DEADLINE = 20.0


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def peers(topics: Topics, name: str, **timing: float) -> Peers:
    return Peers("app", topics, name, lambda: STORES, **timing)


def addresses(found: Peers) -> list[str]:
    return [peer.address for peer in found.all()]


def test_a_replica_is_written_as_json_and_read_back() -> None:
    peer = Peer("local", "host:7000", 17, STORES)

    assert Peer.from_json(peer.to_json()) == peer


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"name": "a", "address": "b", "since": 1, "stores": 3}'])
def test_what_is_no_replica_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"does not describe a replica|Expecting value"):
        Peer.from_json(text)


def test_replicas_learn_of_each_other_and_of_a_goodbye(tmp_path: Path) -> None:
    topics = Topics(tmp_path)

    with peers(topics, "local").start("a:1") as one:
        with peers(topics, "standby").start("b:2") as other:
            until(lambda: addresses(one) == ["a:1", "b:2"])
            until(lambda: addresses(other) == ["b:2", "a:1"])
            found = one.all()[1]
            assert (found.name, found.stores) == ("standby", STORES)
            assert found.store("totals") == STORES[0]
            assert found.store("nothing") is None

        until(lambda: addresses(one) == ["a:1"])


def test_a_replica_that_falls_silent_vanishes(tmp_path: Path) -> None:
    topics = Topics(tmp_path)
    topic = topics.create(replicas_topic("app"))
    dead = Peer("dead", "gone:1", 0, STORES)
    topic.append([Record(b"gone:1", dead.to_json().encode(), int(time.time() * 1000))])

    with peers(topics, "local", beat=0.1, dead=2.0).start("a:1") as one:
        until(lambda: addresses(one) == ["a:1", "gone:1"])
        until(lambda: addresses(one) == ["a:1"])


def test_what_was_left_long_ago_is_not_there(tmp_path: Path) -> None:
    topics = Topics(tmp_path)
    topic = topics.create(replicas_topic("app"))
    topic.append([Record(b"old:1", Peer("old", "old:1", 0).to_json().encode(), 1000)])

    with peers(topics, "local").start("a:1") as one, peers(topics, "b").start("b:2"):
        until(lambda: len(one.all()) == 2)

        assert addresses(one) == ["a:1", "b:2"]


def test_what_is_no_heartbeat_is_left_out(tmp_path: Path) -> None:
    topics = Topics(tmp_path)
    topic = topics.create(replicas_topic("app"))
    now = int(time.time() * 1000)
    topic.append([Record(b"x", b"\xff", now), Record(None, b"{}", now)])

    with peers(topics, "local").start("a:1") as one, peers(topics, "b").start("b:2"):
        until(lambda: addresses(one) == ["a:1", "b:2"])
