"""The settings of a node fit the number of nodes, and hold any character."""

from __future__ import annotations

from pathlib import Path

import pytest

from brookmere.broker.layout import new_layout
from brookmere.broker.properties import server_properties


def settings(brokers: int, data: str = "/data", **more: str) -> dict[str, str]:
    layout = new_layout("4.3.1", brokers).with_ports(19_092, ["SECURE"])
    text = server_properties(layout, layout.nodes[0], Path(data), {"SECURE": "SASL_SSL"}, more)
    return dict(line.split("=", 1) for line in text.splitlines())  # type: ignore[misc]


@pytest.mark.parametrize(
    ("brokers", "copies", "in_sync"), [(1, "1", "1"), (2, "2", "1"), (3, "3", "2"), (5, "3", "2")]
)
def test_one_broker_of_three_may_be_lost(brokers: int, copies: str, in_sync: str) -> None:
    found = settings(brokers)

    for name in (
        "default.replication.factor",
        "offsets.topic.replication.factor",
        "transaction.state.log.replication.factor",
    ):
        assert found[name] == copies
    assert found["min.insync.replicas"] == found["transaction.state.log.min.isr"] == in_sync
    assert len(found["controller.quorum.voters"].split(",")) == brokers


def test_old_records_are_kept_and_topics_are_not_created_automatically() -> None:
    found = settings(1)

    assert found["log.retention.ms"] == "-1"
    assert found["auto.create.topics.enable"] == "false"


def test_listeners_are_on_this_machine_only() -> None:
    found = settings(1)

    assert all("://127.0.0.1:" in address for address in found["listeners"].split(","))
    assert "CONTROLLER" not in found["advertised.listeners"]
    assert (
        found["listener.security.protocol.map"] == "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL"
    )


def test_settings_of_the_caller_win() -> None:
    assert settings(1, **{"log.retention.ms": "5"})["log.retention.ms"] == "5"


def test_any_character_is_written_as_java_reads_it() -> None:
    found = settings(1, "/d\u00e9/\U0001f600", key="a\nb\\c")

    assert found["log.dirs"] == r"/d\u00e9/\ud83d\ude00"
    assert found["key"] == r"a\nb\\c"
