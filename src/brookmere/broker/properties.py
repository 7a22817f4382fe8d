"""The server.properties of the nodes of a Kafka."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from brookmere.broker.layout import CLIENTS, CONTROLLER, Layout, NodeLayout
from brookmere.broker.ports import HOST

LOGGING = """\
rootLogger.level=WARN
rootLogger.appenderRef.console.ref=console
appender.console.type=Console
appender.console.name=console
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=%d %p %c{1}: %m%n
"""


def server_properties(
    layout: Layout,
    node: NodeLayout,
    data: Path,
    protocols: Mapping[str, str],
    more: Mapping[str, str],
) -> str:
    """Return the settings of one node; `protocols` are those of extra listeners, `more` overrides all."""
    count = len(layout.nodes)
    copies, in_sync = min(count, 3), 2 if count >= 3 else 1
    security = {CLIENTS: "PLAINTEXT", CONTROLLER: "PLAINTEXT", **protocols}
    addresses = {name: f"{name}://{HOST}:{port}" for name, port in node.ports.items()}
    settings = {
        "process.roles": "broker,controller",
        "node.id": str(node.id),
        "controller.quorum.voters": ",".join(
            f"{other.id}@{HOST}:{other.ports[CONTROLLER]}" for other in layout.nodes
        ),
        "listeners": ",".join(addresses.values()),
        "advertised.listeners": ",".join(
            address for name, address in addresses.items() if name != CONTROLLER
        ),
        "listener.security.protocol.map": ",".join(f"{name}:{kind}" for name, kind in security.items()),
        "inter.broker.listener.name": CLIENTS,
        "controller.listener.names": CONTROLLER,
        "log.dirs": str(data),
        # Topics of a development broker are created explicitly, and keep records forever.
        "auto.create.topics.enable": "false",
        "log.retention.ms": "-1",
        "default.replication.factor": str(copies),
        "min.insync.replicas": str(in_sync),
        "offsets.topic.replication.factor": str(copies),
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": str(copies),
        "transaction.state.log.min.isr": str(in_sync),
        "transaction.state.log.num.partitions": "4",
        "share.coordinator.state.topic.replication.factor": str(copies),
        "share.coordinator.state.topic.min.isr": str(in_sync),
        "share.coordinator.state.topic.num.partitions": "4",
        "group.initial.rebalance.delay.ms": "0",
        # Kafka's defaults assume a dedicated machine.
        "log.cleaner.dedupe.buffer.size": "2097152",
        "num.network.threads": "2",
        "num.io.threads": "2",
        "background.threads": "2",
        **more,
    }
    return "".join(f"{name}={_escaped(value)}\n" for name, value in settings.items())


def _escaped(value: str) -> str:
    """Escape a value for a properties file, in plain ASCII.

    >>> _escaped("/tmp/é"), _escaped("C:\\\\data")
    ('/tmp/\\\\u00e9', 'C:\\\\\\\\data')
    """
    units = value.replace("\\", "\\\\").replace("\n", "\\n").encode("utf-16-be")
    codes = [int.from_bytes(units[place : place + 2]) for place in range(0, len(units), 2)]
    return "".join(chr(code) if code < 128 else f"\\u{code:04x}" for code in codes)
