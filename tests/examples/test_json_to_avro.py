"""Orders arrive as JSON and leave as Avro that any client of the registry can read."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from decimal import Decimal

import fastavro

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from examples.json_to_avro import Order, app

REGISTRY = "mock://json-to-avro"
NOON = datetime(2024, 5, 17, 12, tzinfo=UTC)


def test_orders_are_written_as_avro_behind_the_id_of_their_schema() -> None:
    with TopologyTestDriver(app, registry=REGISTRY) as driver:
        feed = driver.input_topic("orders-json", start_time=NOON)
        feed.pipe_input("c1", {"id": 1, "item": " tea ", "price": 3.20, "count": 2})
        feed.pipe_input("c2", {"id": 2})
        feed.pipe_input("c1", {"id": 3, "item": "cup"})
        orders = driver.output_topic("orders-avro")
        raw = driver.output_topic("orders-avro", value=bm.Bytes())

        assert orders.read_key_value() == ("c1", Order(1, "tea", Decimal("3.2"), NOON, 2))
        data = raw.read_value()

    latest = bm.registry.RegistryClient(REGISTRY).latest("orders-avro-value")
    assert json.loads(latest.text)["namespace"] == "shop"
    assert data[:5] == b"\0" + latest.id.to_bytes(4, "big")
    order = fastavro.schemaless_reader(io.BytesIO(data[5:]), json.loads(latest.text), None)
    assert order == {"id": 3, "item": "cup", "price": Decimal(0), "ordered": NOON, "count": 1}


def test_a_client_without_the_program_reads_the_orders() -> None:
    with TopologyTestDriver(app, registry=REGISTRY) as driver:
        driver.input_topic("orders-json", start_time=NOON).pipe_input("c1", {"id": 1, "item": "tea"})
        reader = bm.Avro(registry=REGISTRY)

        assert driver.output_topic("orders-avro", value=reader).read_value()["item"] == "tea"
