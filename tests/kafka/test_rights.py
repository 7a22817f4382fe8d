"""The rights that the reference lists are all that an application needs, and it keeps its secrets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import brookmere as bm
from brookmere.topics.kafka import KafkaTopics
from tests.kafka.secured import PASSWORD, Secured

Name = Callable[[str], str]


class Shop:
    """An application of alice that counts what is in a topic."""

    def __init__(self, secured: Secured, directory: Path, name: Name) -> None:
        self.secured = secured
        self.directory = directory
        self.topics = KafkaTopics({"bootstrap.servers": secured.broker.bootstrap_servers})
        self.input, self.output, self.id = name("in"), name("out"), name("app")
        self.topics.create(self.input).append([bm.Record(b"k", b"v", 1000)])
        self.topics.create(self.output)

    def run(self, **settings: str) -> None:
        program = bm.StreamsBuilder(self.id, key=bm.Text(), value=bm.Text())
        program.stream(self.input).group_by_key().count(store="counts").to_stream().to(self.output)
        given = {**self.secured.settings(), "sasl.password": "${env:ALICES}", **settings}
        application = bm.Application(
            program, {**given, "state.dir": self.directory, "num.stream.threads": 2, "task.timeout.ms": 20000}
        )
        with application:
            application.process_all_available()

    def allow(self) -> None:
        """Grant what the reference lists."""
        rights = [
            ("topic", self.input, False, ("describe", "read")),
            ("topic", self.output, False, ("describe", "write")),
            ("topic", f"{self.id}-", True, ("create", "describe", "describe_configs", "write")),
            ("group", self.id, True, ("read", "describe")),
            ("transactional_id", self.id, True, ("write", "describe")),
        ]
        for kind, resource, prefixed, operations in rights:
            self.secured.allow("alice", kind, resource, *operations, prefixed=prefixed)


@pytest.fixture
def shop(
    secured: Secured, spark: SparkSession, tmp_path: Path, name: Name, monkeypatch: pytest.MonkeyPatch
) -> Shop:
    monkeypatch.setenv("ALICES", PASSWORD)
    return Shop(secured, tmp_path, name)


def test_application_with_the_documented_rights_runs_and_keeps_its_secrets(
    shop: Shop, spark: SparkSession
) -> None:
    shop.allow()

    shop.run()

    (counted,) = shop.topics[shop.output].read(0)
    assert bm.Long().deserialize(counted.value) == 1
    assert shop.topics.groups.offsets(shop.id) == {(shop.input, 0): 1}
    files = [path for path in shop.directory.rglob("*") if path.is_file()]
    secret = PASSWORD.encode()
    assert not [path for path in files if secret in path.read_bytes()]
    settings = [*spark.sparkContext.getConf().getAll(), *spark.conf.getAll.items()]
    assert not [name for name, value in settings if PASSWORD in value]
