"""Topics that are missing, grow, vanish or lose records are told in words, and never passed in silence."""

from __future__ import annotations

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions

import brookmere as bm
from brookmere.topics.kafka import KafkaTopics
from tests.kafka.homes import KafkaHome
from tests.run.homes import until

pytestmark = pytest.mark.usefixtures("spark")


def admin(home: KafkaHome) -> AdminClient:
    return AdminClient({"bootstrap.servers": home.broker.bootstrap_servers})


def grow(home: KafkaHome, short: str, partitions: int) -> None:
    client = admin(home)
    for future in client.create_partitions([NewPartitions(home.name(short), partitions)]).values():
        future.result(30)
    until(lambda: home.topics[home.name(short)].partitions == partitions)


def remove(home: KafkaHome, short: str, before: int, partition: int = 0) -> None:
    """Let a partition begin at an offset, as retention does."""
    client = admin(home)
    for future in client.delete_records([TopicPartition(home.name(short), partition, before)]).values():
        future.result(30)


def test_missing_topic_is_told_with_the_command_that_creates_it(home: KafkaHome) -> None:
    home.create("other", 3)
    app = home.builder("missing")
    app.stream([home.name("other"), home.name("nowhere")]).to(home.name("out"))

    with pytest.raises(bm.errors.TopologyError) as caught:
        home.application(app).start()

    assert (
        f"`brookmere topics create {home.name('nowhere')} --partitions 3 "
        f"--bootstrap-server {home.broker.bootstrap_servers}`" in str(caught.value)
    )
    assert home.name("out") not in home.topics


def test_topics_of_a_join_must_have_as_many_partitions(home: KafkaHome) -> None:
    home.create("left", 2)
    home.create("right", 3)
    app = home.builder("join")
    app.stream(home.name("left")).join(app.table(home.name("right")), lambda a, b: a).to(home.name("out"))

    with pytest.raises(bm.errors.TopologyError) as caught:
        home.application(app).start()

    assert "2" in str(caught.value)
    assert "3" in str(caught.value)


def test_topic_that_grows_stops_the_application_and_is_read_after_the_next_start(home: KafkaHome) -> None:
    home.write("in", "a")
    application = home.application(home.shout(), metadata__max__age__ms=500)
    application.start()
    application.process_all_available()

    grow(home, "in", 3)
    # Clients that knew the topic before hear of it some time later.
    fresh = KafkaTopics({"bootstrap.servers": home.broker.bootstrap_servers})[home.name("in")]
    fresh.append(bm.Record(b"x", b"p%d" % p, 9, partition=p) for p in range(3))

    assert application.wait("60s")
    assert isinstance(application.error, bm.errors.TopicError)
    assert str(application.error).startswith(
        f"The topic '{home.name('in')}' has grown from 1 to 3 partitions while the application runs. "
        "Restart the application"
    )
    home.run(home.shout())
    home.run(home.shout())
    assert sorted(home.read("out")) == ["a!", "p0!", "p1!", "p2!"]


def test_topic_of_an_application_with_state_must_not_grow(home: KafkaHome) -> None:
    home.write("in", "a")
    home.run(home.count())
    grow(home, "in", 2)

    with pytest.raises(bm.errors.StateError) as caught:
        home.run(home.count())

    text = str(caught.value)
    assert f"the topic '{home.name('in')}' had 1 partitions and now has 2, but the state" in text
    assert "another application.id" in text
    assert home.read("out", bm.Long()) == [1]


@pytest.mark.parametrize("running", [True, False])
def test_topic_that_is_created_anew_is_another_one(home: KafkaHome, running: bool) -> None:
    home.write("in", "a", "b")
    application = home.application(home.shout(), metadata__max__age__ms=500)
    application.start()
    application.process_all_available()
    if not running:
        application.stop()

    home.topics.delete(home.name("in"))
    home.write("in", "c")

    if running:
        assert application.wait("60s")
        error = application.error
        assert isinstance(error, bm.errors.TopicError)
    else:
        with pytest.raises(bm.errors.StateError) as caught:
            home.run(home.shout())
        error = caught.value
    assert f"the topic '{home.name('in')}' was deleted and recreated" in str(error).replace("The", "the")
    assert home.read("out") == ["a!", "b!"]


def test_topic_that_vanishes_stops_the_application(home: KafkaHome) -> None:
    home.write("in", "a")
    application = home.application(home.shout(), metadata__max__age__ms=500)
    application.start()
    application.process_all_available()

    home.topics.delete(home.name("in"))

    assert application.wait("90s")
    assert isinstance(application.error, bm.errors.TopicError)
    assert f"The topic '{home.name('in')}' does not exist any more." in str(application.error)


@pytest.mark.parametrize("read", [0, 2])
def test_records_that_retention_took_unread_are_told_or_passed_with_a_warning(
    home: KafkaHome, read: int, caplog: pytest.LogCaptureFixture
) -> None:
    home.write("in", *"abcdef"[:read])
    home.run(home.shout())
    home.write("in", *"abcdef"[read:])
    remove(home, "in", 5)

    with pytest.raises(bm.errors.DataLossError) as caught:
        home.run(home.shout())

    assert str(caught.value).startswith(
        f"Retention removed records of the topic '{home.name('in')}' that were not read yet: "
        f"partition 0 begins at offset 5, and the application is at {read}."
    )
    home.run(home.shout(), data__loss__handler="continue")
    assert home.read("out") == [f"{value}!" for value in "abcdef"[:read] + "f"]
    assert f"partition 0 continues at 5 instead of {read}" in caplog.text


def test_records_that_retention_takes_while_it_runs_are_told(home: KafkaHome) -> None:
    home.write("in", *"abcdef")
    settings = {"max.batch.records": 1, "commit.interval.ms": 2000, "metadata.max.age.ms": 100}
    application = bm.Application(home.shout(), {**home.settings, **settings})
    application.start()
    until(lambda: application.progress() is not None)

    remove(home, "in", 5)

    assert application.wait("60s")
    assert isinstance(application.error, bm.errors.DataLossError)
    assert "begins at offset 5" in str(application.error)
