"""The metrics of a replica and its application."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from brookmere.errors import BrookmereError
from brookmere.serve.answers.prometheus import Metric
from brookmere.serve.context import Served
from brookmere.state.replica.replica import passes

_log = logging.getLogger(__name__)

_NODE_COUNTS = {
    "received": "Records that a node received.",
    "forwarded": "Records that a node forwarded.",
    "dropped": "Records that a node dropped by the rules of its operator.",
    "late": "Dropped records that were late.",
    "failed": "Records that a node failed on.",
}


def metrics_of(served: Served) -> Iterator[Metric]:
    """Return the current metrics."""
    yield from _of_stores(served)
    yield from _of_server(served)
    try:
        status = served.status()
    except BrookmereError as error:
        _log.warning("the metrics do not include those of the application: %s", error)
        return
    if status is not None:
        yield from _of_application(status if isinstance(status, Mapping) else asdict(status))


def _of_stores(served: Served) -> Iterator[Metric]:
    entries = Metric("brookmere_store_entries", "Estimated rows of a store.")
    size = Metric("brookmere_store_bytes", "Size of a store in files or memory.")
    lag = Metric("brookmere_store_lag", "Records of the changelog that the replica has not read yet.")
    ready = Metric("brookmere_store_ready", "1 if the store can be queried.")
    for store in served.replica.status():
        labels = {"store": store.name, "kind": store.kind}
        entries.add(store.entries, **labels)
        lag.add(store.lag, **labels)
        ready.add(int(store.is_ready), **labels)
        size.add(store.bytes, **labels)
    yield from (entries, size, lag, ready)


def _of_server(served: Served) -> Iterator[Metric]:
    healthy = Metric("brookmere_replica_healthy", "1 unless the replica has failed.")
    error = served.replica.error
    healthy.add(int(error is None or passes(error)))
    streams = Metric("brookmere_http_streams", "Open streams of updates.")
    streams.add(len(served.streams))
    answers = Metric("brookmere_http_answers_total", "Responses by status.", "counter")
    for status, count in sorted(served.requests.items()):
        answers.add(count, status=str(status))
    yield from (healthy, streams, answers)


def _of_application(status: Mapping[str, Any]) -> Iterator[Metric]:
    running = Metric("brookmere_application_running", "1 while the application runs.")
    running.add(int(status.get("state") == "running"))
    records = Metric("brookmere_records_total", "Records processed since the start.", "counter")
    records.add(status.get("records", 0))
    lag = Metric("brookmere_input_lag", "Records of a topic not yet processed.")
    for topic in status.get("inputs", ()):
        lag.add(topic["lag"], topic=topic["topic"])
    yield from (running, records, lag)
    for count, help in _NODE_COUNTS.items():
        metric = Metric(f"brookmere_node_{count}_total", help, "counter")
        for node in status.get("nodes", ()):
            metric.add(node.get(count, 0), node=node["name"])
        yield metric
