"""A development Kafka: start, stop and inspect its nodes, with all data in one directory."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

from brookmere.broker.commands import server_command
from brookmere.broker.layout import CLIENTS, Layout, load, new_layout
from brookmere.broker.node import Node
from brookmere.broker.ports import HOST
from brookmere.broker.properties import LOGGING, server_properties
from brookmere.broker.readiness import await_ready, check_ports
from brookmere.broker.status import BrokerStatus, status_of
from brookmere.broker.storage import format_data, is_formatted
from brookmere.errors import BrokerError
from brookmere.jars import KAFKA_VERSION, resolve
from brookmere.kernel.cache import locked

logger = logging.getLogger(__name__)

# The very first node writes an archive of its classes when it stops, which is slow on a busy machine.
_STOP_SECONDS = 60.0


class Broker:
    """A real Kafka on the loopback interface of this machine, with its data in a directory.

    It keeps its topics across restarts. It outlives the process that started it, unless it is `tied` to it:
    then it ends with that process, even if that is killed. The number of brokers and their ports are stored
    in the directory; a new Kafka uses `port` and the following ones, or free ones.

    `listeners` are additional ones for clients, by name, with their security protocols, and `properties` are
    additional settings of the nodes by Kafka's names; `format_arguments` are passed to Kafka's storage tool.
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
        self._tied = tied
        self._take(self._laid_out(brokers, port))

    @property
    def bootstrap_servers(self) -> str:
        """The addresses for `bootstrap.servers`."""
        return self.servers()

    def servers(self, listener: str = CLIENTS) -> str:
        """Return the addresses of one of the listeners."""
        return ",".join(f"{HOST}:{node.layout.ports[listener]}" for node in self.nodes)

    @property
    def made(self) -> bool:
        """Whether it was ever started."""
        return load(self.directory) is not None

    @property
    def running(self) -> bool:
        """Whether the processes of all nodes are running."""
        return all(node.running for node in self.nodes)

    def start(self) -> bool:
        """Start the nodes that are not running and wait until all are ready; False if all were running.

        Raises:
            BrokerError: a port is already in use, or Kafka does not start.
            JarNotFoundError: Kafka's jars are missing and cannot be downloaded.
        """
        if "," in str(self.directory):
            raise BrokerError(
                f"Kafka cannot keep its data in {self.directory}.\n"
                "Found: a comma, which Kafka uses to separate directories.\n"
                "Choose another directory: --dir DIR."
            )
        self.directory.mkdir(parents=True, exist_ok=True)
        with self._locked():
            self._notice_others()
            stopped = [node for node in self.nodes if not node.running]
            if stopped:
                check_ports(stopped)
                jars = self._resolved()
                self._prepare(stopped, jars)
                for node in stopped:
                    node.spawn(server_command(node, jars, self._heap))
            try:
                await_ready(self.nodes, self.directory)
            except BaseException:
                for node in stopped:
                    node.kill()
                raise
        return bool(stopped)

    def stop(self) -> bool:
        """Stop all nodes, gracefully if possible; False if none was running."""
        if not self.directory.exists():
            return False
        with self._locked():
            running = [node for node in self.nodes if node.running]
            for node in running:
                node.request_stop()
            deadline = time.monotonic() + _STOP_SECONDS
            for node in self.nodes:
                node.stop(deadline - time.monotonic())
        return bool(running)

    def kill(self) -> None:
        """Kill all nodes, as a power cut would."""
        for node in self.nodes:
            node.kill()

    def restart(self, node: Node) -> None:
        """Restart a node, stopping it first if it is running, and wait until it has joined the cluster."""
        node.stop(_STOP_SECONDS)
        node.spawn(server_command(node, self._resolved(), self._heap))
        await_ready(self.nodes, self.directory)

    def status(self) -> BrokerStatus:
        """Return the state and the size of all nodes."""
        nodes = tuple(map(status_of, self.nodes))
        return BrokerStatus(self.directory, self.bootstrap_servers, self._layout.version, nodes)

    def __enter__(self) -> Broker:
        self.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self.stop()

    def _laid_out(self, brokers: int | None, port: int | None) -> Layout:
        known = load(self.directory)
        if known is None:
            return new_layout(KAFKA_VERSION, brokers or 1).with_ports(port, self._listeners)
        if brokers is not None and brokers != len(known.nodes):
            raise BrokerError(
                f"The Kafka in {self.directory} cannot have {brokers} brokers.\n"
                f"Found: it was created with {len(known.nodes)}.\n"
                "Omit the number, choose another directory, or remove this one with its topics."
            )
        return known if self._any_runs(known) else known.with_ports(port, self._listeners)

    def _any_runs(self, layout: Layout) -> bool:
        return any(Node(self.directory, node, tied=False).running for node in layout.nodes)

    def _take(self, layout: Layout) -> None:
        self._layout = layout
        self.nodes = tuple(Node(self.directory, node, tied=self._tied) for node in layout.nodes)

    def _notice_others(self) -> None:
        """Adopt the layout of a Kafka that another process has started in the meantime."""
        known = load(self.directory)
        if known is not None and known != self._layout and self._any_runs(known):
            self._take(known)

    def _prepare(self, nodes: Sequence[Node], jars: Sequence[Path]) -> None:
        """Write the settings of nodes that are not running, and format their directories if necessary."""
        for node in nodes:
            node.directory.mkdir(parents=True, exist_ok=True)
            settings = server_properties(
                self._layout, node.layout, node.data, self._listeners, self._properties
            )
            node.settings.write_text(settings)
            node.log_settings.write_text(LOGGING)
        if not all(is_formatted(node.data) for node in self.nodes):
            data = [node.data for node in self.nodes]
            format_data(self._layout, data, self.nodes[0].settings, jars, self._format_arguments)
        self._layout = replace(self._layout, version=KAFKA_VERSION)
        self._layout.save(self.directory)

    def _resolved(self) -> tuple[Path, ...]:
        return resolve("kafka-broker", self._jars)

    def _locked(self) -> AbstractContextManager[None]:
        """Ensure that only one process at a time starts or stops this Kafka."""
        return locked(self.directory / "lock", logger, "is starting or stopping this Kafka")
