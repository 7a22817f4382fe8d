"""The values that start a query have the fields of the Scala classes."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from brookmere.run.query import transports
from brookmere.run.query.transports import EmbeddedPlace, SinkSpec
from brookmere.run.query.worker_environment import WorkerEnv
from tests.run.java_border import assert_same_class


@pytest.mark.parametrize("value", [EmbeddedPlace, SinkSpec, WorkerEnv], ids=lambda each: each.__name__)
def test_dataclass_has_the_fields_of_the_scala_class(spark: SparkSession, value: Any) -> None:
    assert_same_class(spark._jvm, value)


def test_settings_of_clients_are_not_shown() -> None:
    clients = transports.KafkaClientSpec("user", 1, {"password": "secret"}, {"password": "secret"}, {})

    assert "secret" not in repr(clients)
