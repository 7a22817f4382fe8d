"""Python code runs on Kafka as on embedded topics."""

from __future__ import annotations

import pytest

import brookmere as bm
from tests.kafka.homes import KafkaHome


class Counting(bm.Processor):
    """Tells how often a key came."""

    stores = (bm.key_value_store("counts", key=bm.Text(), value=bm.Long()),)

    def process(self, record: bm.Record) -> None:
        counts = self.context.store("counts")
        count = (counts.get(record.key) or 0) + 1
        counts.put(record.key, count)
        self.context.forward(record.with_value(f"{record.value}:{count}").with_header("from", b"python"))


def upper(value: str) -> str:
    return value.upper()


@pytest.mark.usefixtures("spark")
def test_functions_and_processors_run_on_kafka_and_go_on(home: KafkaHome) -> None:
    app = home.builder("python")
    stream = app.stream(home.name("in")).map_values(bm.python(upper))
    stream.process_values(Counting).to(home.name("out"))
    home.create("out")
    home.write("in", "a", "b")
    home.run(app)
    home.write("in", "c", start=5)

    with home.application(app) as application:
        application.process_all_available()

        assert application.store("counts").get("k") == 3
    assert home.read("out") == ["A:1", "B:2", "C:3"]
    assert all(record.headers == (("from", b"python"),) for record in home.records("out"))
