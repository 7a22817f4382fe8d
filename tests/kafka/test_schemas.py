"""Programs on Kafka with schemas in a registry: other clients' records are read, and read what is written."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import fastavro
import pytest
from confluent_kafka import Consumer, Producer
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.registry.server.server import RegistryServer
from tests.kafka.streams import Sides

KEY = '{"type":"record","name":"CustomerKey","fields":[{"name":"id","type":"long"}]}'
ORDER = (
    '{"type":"record","name":"Order","namespace":"shop","fields":[{"name":"customer","type":"long"},'
    '{"name":"item","type":"string"}]}'
)
JOINED = (
    '{"type":"record","name":"Named","namespace":"shop","fields":[{"name":"item","type":"string"},'
    '{"name":"name","type":["null","string"],"default":null}]}'
)
CUSTOMER = 'syntax = "proto3"; package shop; message Customer { string name = 1; }'


@pytest.fixture
def registry() -> Iterator[RegistryServer]:
    with RegistryServer(port=0) as server:
        yield server


def written(client: bm.registry.RegistryClient, subject: str, schema: str, value: dict[str, Any]) -> bytes:
    """Return a value as any client of the registry writes it."""
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(json.loads(schema)), value)
    return b"\0" + client.register(subject, schema).to_bytes(4, "big") + out.getvalue()


def read(client: bm.registry.RegistryClient, data: bytes) -> Any:
    """Return a value as any client of the registry reads it."""
    schema = json.loads(client.schema(int.from_bytes(data[1:5], "big")).text)
    return fastavro.schemaless_reader(io.BytesIO(data[5:]), schema, None)


def test_keys_with_schemas_meet_in_the_same_partition(
    sides: Sides, name: Callable[[str], str], registry: RegistryServer
) -> None:
    orders, customers, out = name("orders"), name("customers"), name("out")
    for topic in (orders, customers, out):
        sides.topics.create(topic, 3)
    client = bm.registry.RegistryClient(registry.url)
    servers = {"bootstrap.servers": sides.topics.bootstrap_servers}
    producer = Producer({**servers, "partitioner": "murmur2_random"})
    message = b"\0" + client.register(f"{customers}-value", CUSTOMER, "PROTOBUF").to_bytes(4, "big") + b"\0"
    for id in range(20):
        key = written(client, f"{customers}-key", KEY, {"id": id})
        producer.produce(customers, message + b"\x0a\x02n" + bytes([65 + id]), key, timestamp=1000)
        order = written(client, f"{orders}-value", ORDER, {"customer": id, "item": f"i{id}"})
        producer.produce(orders, order, b"any", timestamp=2000)
    producer.flush()
    # The client would go on looking for a broker that has ended.
    del producer
    keys = bm.Avro(KEY, registry=registry.url)
    app = bm.StreamsBuilder(name("app"), key=bm.Bytes(), value=bm.Bytes())
    table = app.table(customers, key=keys, value=bm.Protobuf(CUSTOMER, registry=registry.url))
    (
        app.stream(orders, value=bm.Avro(ORDER, registry=registry.url))
        .select_key(lambda _, order: F.struct(order.customer.alias("id")))
        .join(table, lambda order, customer: F.struct(order.item, customer["name"].alias("name")))
        .to(out, key=keys, value=bm.Avro(JOINED, registry=registry.url))
    )

    sides.brookmere(app)

    consumer = Consumer({**servers, "group.id": name("group"), "auto.offset.reset": "earliest"})
    consumer.subscribe([out])
    found = {}
    while len(found) < 20:
        record = consumer.poll(30)
        assert record is not None
        assert record.error() is None
        found[read(client, record.key())["id"]] = read(client, record.value())
    consumer.close()
    assert found == {id: {"item": f"i{id}", "name": f"n{chr(65 + id)}"} for id in range(20)}
