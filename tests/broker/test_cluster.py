"""A real Kafka starts, keeps its data, survives the loss of nodes, and ends when it should."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brookmere.broker import Broker
from brookmere.broker.processes import identify
from brookmere.errors import BrokerError
from tests.broker.clients import consume, create, produce

Make = Callable[..., Broker]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Makes brokers that end with the test."""
    made: list[Broker] = []

    def new(*arguments: object, **options: object) -> Broker:
        made.append(Broker(tmp_path / "kafka", *arguments, tied=True, **options))  # type: ignore[arg-type]
        return made[-1]

    yield new
    for broker in made:
        broker.kill()


def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def test_data_and_ports_survive_a_restart(make: Make) -> None:
    first = make()
    assert first.start()
    create(first.bootstrap_servers, "kept")
    produce(first.bootstrap_servers, "kept", b"a", b"b", timestamp=1_000)

    assert first.stop()
    assert first.status().state == "stopped"
    second = make()
    assert second.start()

    assert second.bootstrap_servers == first.bootstrap_servers
    assert consume(second.bootstrap_servers, "kept", 2) == [b"a", b"b"]
    (node,) = second.status().nodes
    assert (node.state, node.pid is not None, node.bytes > 0) == ("running", True, True)


def test_second_start_and_second_stop_change_nothing(make: Make) -> None:
    broker = make()
    broker.start()
    (before,) = broker.status().nodes

    assert not broker.start()
    # One that did not start it sees the same, and ends it as well.
    other = Broker(broker.directory)
    assert not other.start()
    assert other.status().nodes[0].pid == before.pid

    assert other.stop()
    assert not other.stop()
    assert not broker.stop()


def test_concurrent_start_finds_the_running_broker(make: Make) -> None:
    early = make()
    late = make()
    late.start()

    assert not early.start()

    assert early.bootstrap_servers == late.bootstrap_servers


def test_data_survives_a_crash(make: Make) -> None:
    broker = make()
    broker.start()
    create(broker.bootstrap_servers, "kept")
    produce(broker.bootstrap_servers, "kept", b"a")

    broker.kill()
    assert not broker.running
    broker.start()

    assert consume(broker.bootstrap_servers, "kept", 1) == [b"a"]


def test_port_in_use_is_reported_before_anything_starts(make: Make) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]

        with pytest.raises(BrokerError) as failure:
            make(port=port).start()

    assert f"Kafka cannot listen on port {port} (PLAINTEXT of broker 1)." in str(failure.value)
    assert "--port" in str(failure.value)


def test_failed_start_shows_kafkas_error_and_leaves_nothing_behind(make: Make) -> None:
    broker = make(properties={"log.cleaner.threads": "many"})

    with pytest.raises(BrokerError, match=r"many.*log\.cleaner\.threads"):
        broker.start()

    assert broker.status().state == "stopped"


def test_directory_that_kafka_would_split_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BrokerError, match="a comma"):
        Broker(tmp_path / "a,b").start()


def test_number_of_brokers_cannot_change(make: Make, tmp_path: Path) -> None:
    broker = make()
    broker.start()

    with pytest.raises(BrokerError, match="it was created with 1"):
        Broker(tmp_path / "kafka", 3)


def test_process_that_reuses_the_pid_of_a_dead_broker_is_not_killed(make: Make) -> None:
    broker = make()
    broker.start()
    broker.kill()
    with subprocess.Popen(["sleep", "60"]) as stranger:
        try:
            content = f'{{"pid": {stranger.pid}, "started": "1"}}'
            (broker.nodes[0].directory / "process.json").write_text(content)

            assert not broker.stop()

            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_tied_broker_ends_with_its_killed_owner(tmp_path: Path) -> None:
    program = (
        "import sys, signal\n"
        "from brookmere.broker import Broker\n"
        "broker = Broker(sys.argv[1], tied=True)\n"
        "broker.start()\n"
        "print(broker.status().nodes[0].pid, flush=True)\n"
        "signal.pause()\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "kafka")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        broker = identify(int(owner.stdout.readline()))
        assert broker is not None

        os.kill(owner.pid, signal.SIGKILL)

    wait_until(lambda: not broker.alive)


@pytest.mark.slow
def test_three_brokers_survive_the_loss_of_any_one(make: Make) -> None:
    broker = make(3)
    broker.start()
    servers = broker.bootstrap_servers
    assert [node.state for node in broker.status().nodes] == ["running"] * 3
    create(servers, "kept")

    for place, node in enumerate(broker.nodes):
        node.kill()
        assert broker.status().state == "partly running"
        produce(servers, "kept", b"%d" % place)
        broker.restart(node)

    assert broker.status().state == "running"
    assert consume(servers, "kept", 3) == [b"0", b"1", b"2"]


def test_further_listener_has_its_own_protocol(make: Make) -> None:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    users = 'username="admin" password="secret" user_admin="secret";'
    broker = make(
        listeners={"SECURE": "SASL_PLAINTEXT"},
        properties={
            "sasl.enabled.mechanisms": "PLAIN",
            "listener.name.secure.plain.sasl.jaas.config": f"{module} {users}",
        },
    )
    broker.start()
    login = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "admin",
        "sasl.password": "secret",
    }

    create(broker.servers("SECURE"), "kept", **login)
    produce(broker.servers("SECURE"), "kept", b"a", **login)

    assert consume(broker.bootstrap_servers, "kept", 1) == [b"a"]
