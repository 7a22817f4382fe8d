"""A directory remembers the id, the nodes and the ports of its Kafka."""

from __future__ import annotations

from pathlib import Path

import pytest

from brookmere.broker.layout import CLIENTS, CONTROLLER, load, new_id, new_layout
from brookmere.errors import BrokerError


def test_layout_is_found_again(tmp_path: Path) -> None:
    layout = new_layout("4.3.1", 3).with_ports(19_092, [])

    layout.save(tmp_path)

    assert load(tmp_path) == layout
    assert [node.id for node in layout.nodes] == [1, 2, 3]
    assert [node.ports[CLIENTS] for node in layout.nodes] == [19_092, 19_093, 19_094]


def test_empty_directory_has_no_layout(tmp_path: Path) -> None:
    assert load(tmp_path) is None


def test_damaged_layout_is_refused_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "broker.json").write_text("{")

    with pytest.raises(BrokerError, match=r"broker\.json cannot be read"):
        load(tmp_path)


def test_client_ports_stay_the_same_unless_others_are_requested() -> None:
    first = new_layout("4.3.1", 1).with_ports(None, ["SECURE"])
    (ports,) = (node.ports for node in first.nodes)
    assert list(ports) == [CLIENTS, "SECURE", CONTROLLER]
    assert len(set(ports.values())) == 3

    (kept,) = (node.ports for node in first.with_ports(None, ["SECURE"]).nodes)
    (given,) = (node.ports for node in first.with_ports(5, ["SECURE"]).nodes)
    (free,) = (node.ports for node in first.with_ports(0, ["SECURE"]).nodes)

    assert (kept[CLIENTS], kept["SECURE"]) == (ports[CLIENTS], ports["SECURE"])
    assert (given[CLIENTS], given["SECURE"]) == (5, ports["SECURE"])
    assert free[CLIENTS] >= 20_000


def test_ids_are_as_kafka_writes_them() -> None:
    ids = {new_id() for _ in range(200)}

    assert len(ids) == 200
    assert all(len(text) == 22 and not text.startswith("-") for text in ids)
