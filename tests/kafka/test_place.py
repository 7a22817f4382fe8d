"""Where a query runs on Kafka is passed to the kernel as the Scala classes say."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from brookmere.run.query.session import spark_session
from brookmere.run.query.transports import KafkaClientSpec, KafkaPlace, KafkaTopicSpec, KafkaWriteSpec
from tests.run.java_border import assert_same_class

VALUES = (KafkaPlace, KafkaTopicSpec, KafkaWriteSpec, KafkaClientSpec)


@pytest.mark.parametrize("value", VALUES, ids=lambda each: each.__name__)
def test_dataclass_has_the_fields_of_the_scala_class(spark: SparkSession, value: Any) -> None:
    session = spark_session(kafka=True)

    assert_same_class(session._jvm, value)
