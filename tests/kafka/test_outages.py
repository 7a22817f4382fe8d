"""Brokers that restart are waited out; what does not pass ends an application in words."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

import brookmere as bm
from brookmere.run.query.checkpoints import begun
from brookmere.run.query.transports import OnKafka
from tests.kafka.homes import KafkaHome
from tests.run.homes import until

pytestmark = pytest.mark.usefixtures("spark")


@pytest.fixture(autouse=True)
def running(home: KafkaHome) -> Iterator[None]:
    """Leave the broker of the test run as it was."""
    yield
    home.broker.start()


def test_broker_that_restarts_while_nothing_comes_is_waited_for(
    home: KafkaHome, caplog: pytest.LogCaptureFixture
) -> None:
    home.write("in", "a")
    with home.application(home.count()) as application:
        application.process_all_available()
        home.broker.stop()
        until(lambda: "Kafka does not answer" in caplog.text)
        home.broker.start()
        home.write("in", "b")
        application.process_all_available()
        assert application.state == "running"

    assert home.read("out", bm.Long()) == [1, 2]
    assert "Kafka answers again." in caplog.text


@pytest.mark.parametrize("guarantee", ["exactly_once_v2", "at_least_once"])
def test_broker_that_dies_in_the_middle_of_the_work_is_waited_for(home: KafkaHome, guarantee: str) -> None:
    home.create("in", 2)
    home.append("in", *(bm.Record(b"k%d" % (n % 10), b"v%d" % n, 1 + n) for n in range(600)))
    application = home.application(home.shout(), max__batch__records=20, processing__guarantee=guarantee)
    with application:
        until(lambda: (p := application.progress()) is not None and p.batch >= 2)
        home.broker.kill()
        home.broker.start()
        application.process_all_available()

    found = home.read("out")
    assert set(found) == {f"v{n}!" for n in range(600)}
    if guarantee == "exactly_once_v2":
        assert len(found) == 600


def test_broker_that_stays_away_ends_the_application(home: KafkaHome) -> None:
    home.write("in", "a")
    application = home.application(home.shout(), task__timeout__ms=2000)
    application.start()
    application.process_all_available()

    home.broker.stop()

    assert application.wait("60s")
    assert isinstance(application.error, bm.errors.UnreachableError)
    text = str(application.error)
    assert text.startswith("Kafka did not answer for 2 s (Describe). Found: ")
    assert "No record is lost: restart the application when the brokers are back." in text
    home.broker.start()
    home.write("in", "b")
    home.run(home.shout())
    assert home.read("out") == ["a!", "b!"]


def test_application_can_be_stopped_while_the_broker_is_away(home: KafkaHome) -> None:
    home.write("in", "a")
    application = home.application(home.shout())
    application.start()
    application.process_all_available()
    home.broker.stop()
    began = time.monotonic()

    application.stop(timeout="1s")

    assert application.state == "stopped"
    assert time.monotonic() - began < 60


def test_broker_that_is_not_there_is_told_at_the_start(home: KafkaHome) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    application = home.application(
        home.shout(), bootstrap__servers=f"127.0.0.1:{port}", default__api__timeout__ms=1000
    )

    with pytest.raises(bm.errors.UnreachableError) as caught:
        application.start()

    assert f"no broker of bootstrap.servers=127.0.0.1:{port} answered within 1 seconds" in str(caught.value)
    assert application.state == "created"


def test_batch_whose_transaction_kafka_has_ended_is_done_again(
    home: KafkaHome, caplog: pytest.LogCaptureFixture
) -> None:
    home.write("in", "a")
    app = home.count()
    with home.application(app) as application:
        application.process_all_available()
        # As Kafka ends one that takes too long: its producer is out, and no other has taken over.
        other = Producer(
            {
                "bootstrap.servers": home.broker.bootstrap_servers,
                "transactional.id": f"{app.application_id}-0",
            }
        )
        other.init_transactions()
        home.write("in", "b")
        application.process_all_available()
        home.write("in", "c")
        application.process_all_available()

    assert home.read("out", bm.Long()) == [1, 2, 3]
    assert "repeats the batch. Kafka has ended a transaction of the application" in caplog.text


def test_instance_that_another_has_replaced_ends(home: KafkaHome, spark: SparkSession) -> None:
    home.write("in", "a")
    application = home.application(home.shout())
    application.start()
    application.process_all_available()

    # As another process does at its start.
    assert application._run is not None
    plan = application._run.application.query.compiled.plan
    other = OnKafka(application.config)
    other.open(
        spark._jvm,
        home.name("other"),
        application.application_id,
        plan,
        1,
        begun(home.directory),
        (),
    )
    home.write("in", "b")

    assert application.wait("60s")
    other.close(spark._jvm, home.name("other"))
    assert isinstance(application.error, bm.errors.InstanceError)
    assert "has taken over. This one has written nothing since." in str(application.error)
    assert home.read("out") == ["a!"]
    home.run(home.shout())
    assert home.read("out") == ["a!", "b!"]
