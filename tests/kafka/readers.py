"""Reads a topic with other programs than Brookmere: Kafka's console consumer, kcat and confluent-kafka."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

from confluent_kafka import Consumer, KafkaError, TopicPartition

from brookmere.jars import resolve
from brookmere.kernel.java import java_command
from tests.debian_packages import NotFetchedError, libraries, unpacked

_CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
_PATIENCE = 120.0
_KCAT = "usr/bin/kcat"


def console_consumer(servers: str, topic: str, records: int) -> list[str]:
    """Return the lines that Kafka's console consumer writes about a topic, sorted."""
    shown = ("timestamp", "partition", "offset", "headers", "key")
    command = [
        *(str(java_command()), "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
        *("-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp"),
        os.pathsep.join(map(str, resolve("kafka-broker"))),
        _CONSOLE_CONSUMER,
        *("--bootstrap-server", servers, "--topic", topic, "--from-beginning"),
        *("--isolation-level", "read_committed", "--max-messages", str(records), "--timeout-ms", "60000"),
        *(part for name in shown for part in ("--formatter-property", f"print.{name}=true")),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE)
    assert done.returncode == 0, done.stderr
    return sorted(done.stdout.splitlines())


def confluent(servers: str, topic: str, partitions: int) -> list[dict[str, object]]:
    """Return what confluent-kafka reads from a topic, by partition and offset."""
    settings = {"bootstrap.servers": servers, "group.id": topic, "enable.partition.eof": True}
    consumer = Consumer({**settings, "isolation.level": "read_committed"})
    found = []
    try:
        consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
        left = partitions
        while left:
            message = consumer.poll(_PATIENCE)
            assert message is not None, "nothing comes"
            if message.error() is not None:
                assert message.error().code() == KafkaError._PARTITION_EOF
                left -= 1
                continue
            found.append(
                {
                    "partition": message.partition(),
                    "offset": message.offset(),
                    "ts": message.timestamp()[1],
                    "headers": message.headers() or [],
                    "key": message.key(),
                    "value": message.value(),
                }
            )
    finally:
        consumer.close()
    return sorted(found, key=lambda one: (one["partition"], one["offset"]))  # type: ignore[arg-type,return-value]


def kcat(
    command: list[str], environment: dict[str, str], servers: str, topic: str
) -> list[dict[str, object]]:
    """Return what kcat tells in JSON about the records of a topic, by partition and offset."""
    options = ["-b", servers, "-t", topic, "-C", "-e", "-q", "-J", "-o", "beginning"]
    done = subprocess.run(
        [*command, *options, "-X", "isolation.level=read_committed"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return sorted(found, key=lambda one: (one["partition"], one["offset"]))


def find_kcat() -> tuple[list[str], dict[str, str]] | str:
    """Return the command of kcat and the environment it needs, or why there is none.

    Where it is not installed, it is taken from Debian's packages.
    """
    for name in ("kcat", "kafkacat"):
        if (found := shutil.which(name)) is not None:
            return [found], {}
    try:
        place = unpacked("kcat", _KCAT)
    except NotFetchedError as failure:
        return str(failure)
    return [str(place / _KCAT)], libraries(place)
