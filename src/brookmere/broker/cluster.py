"""Turns a directory into a running Kafka of one or several nodes."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from brookmere.broker.formatting import format_data, is_formatted
from brookmere.broker.layout import CLIENTS, CONTROLLER, Layout, NodeLayout, load, new_id
from brookmere.broker.node import Node
from brookmere.broker.ports import HOST, free_port, is_free
from brookmere.broker.probe import brokers_seen_by
from brookmere.broker.properties import LOGGING, server_properties
from brookmere.broker.status import BrokerStatus, NodeStatus
from brookmere.errors import BrokerError
from brookmere.jars import KAFKA_VERSION, resolve
from brookmere.kernel.java import java_command

_START_SECONDS, _STOP_SECONDS = 120.0, 20.0


class Broker:
    """A real Kafka on this machine's loopback, with its data in a directory.

    It keeps its topics when it is started again. It outlives the process that started it, unless it is `tied`
    to it: then it ends with that process, however that ends. Ports are kept in the directory; a new one takes
    `port` and the ones after it, or free ones.

    `listeners` are further ones for clients, by name, with their security protocols, and `properties` are
    further settings of the nodes by Kafka's names; `format_arguments` go to Kafka's storage tool.
    """

    def __init__(
        self,
        directory: Path | str,
        brokers: int | None = None,
        port: int | None = None,
        *,
        listeners: Mapping[str, str] | None = None,
        properties: Mapping[str, str] | None = None,
        format_arguments: Sequence[str] = (),
        heap: str = "256m",
        jars: Path | None = None,
        tied: bool = False,
    ) -> None:
        self.directory = Path(directory).absolute()
        self._listeners = dict(listeners or {})
        self._properties = dict(properties or {})
        self._format_arguments = tuple(format_arguments)
        self._heap = heap
        self._jars = jars
        self._layout = self._laid_out(brokers, port)
        self.nodes = tuple(Node(self._place(node), node, tied=tied) for node in self._layout.nodes)

    @property
    def bootstrap_servers(self) -> str:
        """The addresses for `bootstrap.servers`."""
        return self.servers()

    def servers(self, listener: str = CLIENTS) -> str:
        """Return the addresses of one of the listeners."""
        return ",".join(f"{HOST}:{node.layout.ports[listener]}" for node in self.nodes)

    @property
    def running(self) -> bool:
        """Whether the processes of all nodes run."""
        return all(node.running for node in self.nodes)

    def start(self) -> bool:
        """Start the nodes that do not run and wait until all are ready; False if there was nothing to do.

        Raises:
            BrokerError: a port is taken, or Kafka does not start.
            JarNotFoundError: Kafka's jars cannot be had.
        """
        self.directory.mkdir(parents=True, exist_ok=True)
        with self._locked():
            stopped = [node for node in self.nodes if not node.running]
            if stopped:
                self._check_ports(stopped)
                class_path = os.pathsep.join(map(str, resolve("kafka-broker", self._jars)))
                self._prepare(class_path)
                for node in stopped:
                    self._spawn(node, class_path)
            try:
                self._await_ready()
            except BaseException:
                for node in stopped:
                    node.kill()
                raise
        return bool(stopped)

    def stop(self) -> bool:
        """Stop all nodes, gently first; False if none was running."""
        if not self.directory.exists():
            return False
        with self._locked():
            running = [node for node in self.nodes if node.running]
            for node in running:
                node.ask_to_stop()
            deadline = time.monotonic() + _STOP_SECONDS
            for node in self.nodes:
                if (identity := node.identity) is not None:
                    identity.wait(deadline - time.monotonic())
                node.kill()
        return bool(running)

    def kill(self) -> None:
        """End all nodes at once, as a power cut would."""
        for node in self.nodes:
            node.kill()

    def restart(self, node: Node) -> None:
        """Start one node again after it was killed or stopped, and wait until all running ones know it."""
        self._spawn(node, os.pathsep.join(map(str, resolve("kafka-broker", self._jars))))
        self._await_ready()

    def status(self) -> BrokerStatus:
        """Look what the nodes do, and how much they hold."""
        return BrokerStatus(
            self.directory,
            self.bootstrap_servers,
            self._layout.version,
            _bytes_in(self.directory),
            tuple(_status(node) for node in self.nodes),
        )

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _laid_out(self, brokers: int | None, port: int | None) -> Layout:
        known = load(self.directory)
        if known is None:
            count = 1 if brokers is None else brokers
            ids = tuple(range(1, count + 1))
            known = Layout(KAFKA_VERSION, new_id(), tuple(NodeLayout(number, {}) for number in ids))
        elif brokers is not None and brokers != len(known.nodes):
            raise BrokerError(
                f"The Kafka in {self.directory} cannot have {brokers} brokers.\n"
                f"Found: it was made with {len(known.nodes)}.\n"
                "Leave the number out, name another directory, or remove this one with its topics."
            )
        running = any(Node(self._place(node), node, tied=False).running for node in known.nodes)
        return known if running else self._with_ports(known, port)

    def _with_ports(self, layout: Layout, port: int | None) -> Layout:
        """Choose the ports of nodes that do not run: those for clients are kept or given."""
        taken: set[int] = set()
        nodes = []
        for place, node in enumerate(layout.nodes):
            given = {CLIENTS: port + place} if port else {}
            wanted = {
                CLIENTS: given.get(CLIENTS) or node.ports.get(CLIENTS),
                **{name: node.ports.get(name) for name in self._listeners},
                CONTROLLER: None,
            }
            ports = {}
            for name, number in wanted.items():
                ports[name] = number or free_port(taken)
                taken.add(ports[name])
            nodes.append(NodeLayout(node.id, ports))
        return replace(layout, nodes=tuple(nodes))

    def _check_ports(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            for name, port in node.layout.ports.items():
                if not is_free(port):
                    raise BrokerError(
                        f"Kafka cannot listen on port {port} ({name} of broker {node.id}).\n"
                        f"Found: another process uses it.\n"
                        "Stop that process, or choose another port: brookmere kafka up --port PORT."
                    )

    def _prepare(self, class_path: str) -> None:
        """Write the settings of all nodes, and format their directories unless they are."""
        for node in self.nodes:
            node.directory.mkdir(parents=True, exist_ok=True)
            text = server_properties(self._layout, node.layout, node.data, self._listeners, self._properties)
            node.settings.write_text(text)
            (node.directory / "log4j2.properties").write_text(LOGGING)
        if not all(is_formatted(node.data) for node in self.nodes):
            data = [node.data for node in self.nodes]
            format_data(self._layout, data, self.nodes[0].settings, class_path, self._format_arguments)
        self._layout.save(self.directory)

    def _spawn(self, node: Node, class_path: str) -> None:
        logging = f"-Dlog4j2.configurationFile={node.directory / 'log4j2.properties'}"
        node.spawn(
            [
                str(java_command()),
                *(f"-Xmx{self._heap}", "-Xms32m", "-XX:+UseSerialGC", logging),
                *("-cp", class_path, "kafka.Kafka", str(node.settings)),
            ]
        )

    def _await_ready(self) -> None:
        """Wait until every running node knows every running node as one that takes records."""
        deadline = time.monotonic() + _START_SECONDS
        running = [node for node in self.nodes if node.running]
        expected = {node.id for node in running}
        waiting = list(running)
        while waiting:
            for node in running:
                if not node.running:
                    raise BrokerError(
                        f"Broker {node.id} of the Kafka in {self.directory} ended while it started.\n"
                        f"Found: {node.last_words()}\n"
                        f"Mend what it complains of; all it said is in {node.log}."
                    )
            waiting = [node for node in waiting if not expected <= brokers_seen_by(node.port)]
            if waiting and time.monotonic() > deadline:
                raise BrokerError(
                    f"The Kafka in {self.directory} is not ready after {_START_SECONDS:.0f} seconds.\n"
                    f"Found: broker {waiting[0].id} said: {waiting[0].last_words()}\n"
                    "Try again when the machine is less busy."
                )
            if waiting:
                time.sleep(0.05)

    def _place(self, node: NodeLayout) -> Path:
        return self.directory / f"node-{node.id}"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Let one process at a time start or stop this Kafka."""
        with (self.directory / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def _status(node: Node) -> NodeStatus:
    identity = node.identity
    if identity is None:
        return NodeStatus(node.id, "stopped", None, node.port, node.log)
    ready = node.id in brokers_seen_by(node.port)
    return NodeStatus(node.id, "running" if ready else "starting", identity.pid, node.port, node.log)


def _bytes_in(directory: Path) -> int:
    """Return what the files below a directory take; Kafka's index files are mostly holes."""
    total = 0
    for folder, _, files in os.walk(directory):
        for name in files:
            try:
                total += (Path(folder) / name).lstat().st_blocks * 512
            except FileNotFoundError:
                # Kafka removes files while this looks.
                continue
    return total
