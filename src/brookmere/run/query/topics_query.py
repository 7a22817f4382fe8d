"""Turns a compiled program and a kind of topics into a running query from topics to topics."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, SparkSession

from brookmere.run.compile.compiler import Compiled
from brookmere.run.compile.time import wall_options
from brookmere.run.jvm import to_java
from brookmere.run.query.checkpoints import begun, checkpointed_partitions
from brookmere.run.query.outputs import Written, read_outputs
from brookmere.run.query.query import Query, shuffle_partitions, started
from brookmere.run.query.taps import show
from brookmere.run.query.transports import SinkSpec, Transport
from brookmere.topology.nodes import SourceNode


def launch(
    compiled: Compiled,
    *,
    session: SparkSession,
    topics: Transport,
    application: str,
    checkpoint: Path,
    reset: str = "earliest",
    lost: str = "fail",
    max_batch_records: int = 0,
    dead_letter: str | None = None,
    interval_ms: int = 0,
    spark_partitions: int | None = None,
    clock_ms: int = 1000,
    trigger: Mapping[str, Any] | None = None,
    takeover: str | None = None,
    begin: str = "",
    stay: bool = False,
    before: Sequence[str] = (),
) -> Query:
    """Start the query of a program from and to topics.

    `reset` says where a first start begins (earliest, latest, none), `lost` what happens when retention
    removed unread records (fail, continue). `max_batch_records` of 0 takes all that waits into one batch. A
    program that has to know the wall clock looks at it every `clock_ms` milliseconds while no records come. A
    query with a `takeover` begins with the state of another version of the program, at the positions `begin`
    that it had; one that is to `stay` there reads nothing. `before` names the queries that this one goes on
    with by itself.
    """
    name = f"{application}-{uuid.uuid4().hex[:8]}"
    raised: list[Exception] = []
    jvm: Any = session._jvm
    spark_partitions = checkpointed_partitions(checkpoint) or spark_partitions or shuffle_partitions(session)
    place = topics.open(jvm, name, application, compiled.plan, spark_partitions, begun(checkpoint), before)
    raw = read_topics(
        session, topics, compiled.plan.topics, layout="raw", reset=reset, lost=lost, limit=max_batch_records,
        application=name, whole=json.dumps(sorted(_global_topics(compiled))),
        **({} if stay else wall_options(compiled.plan, compiled.program, clock_ms)),
        begin=begin, stay=str(stay).lower(),
        cores=session.sparkContext.defaultParallelism,
    )  # fmt: skip

    def write(rows: DataFrame, assembly: Any) -> Any:  # noqa: ARG001
        sink = to_java(jvm, SinkSpec(name, application, list(compiled.numbers), dead_letter))
        to = to_java(jvm, compiled.destinations)
        jvm.brookmere.kernel.transport.Sinks.register(sink, to, compiled.program, place)
        if compiled.taps:
            _listen(session, name, compiled, raised)
        return rows.writeStream.format(topics.format).option("plan", name)

    chosen = trigger or ({"processingTime": f"{interval_ms} milliseconds"} if interval_ms > 0 else None)
    return started(
        compiled, raw, write, session=session, checkpoint=checkpoint, spark_partitions=spark_partitions,
        name=application, trigger=chosen, raised=raised, known_as=name, takeover=takeover,
        forget=partial(topics.close, jvm, name), notices=partial(topics.notices, jvm, name),
    )  # fmt: skip


def read_topics(
    session: SparkSession, topics: Transport, names: tuple[str, ...] | list[str], **options: Any
) -> DataFrame:
    """Return the records of topics as a streaming DataFrame."""
    reader = session.readStream.format(topics.format).option("topics", json.dumps(list(names)))
    for option, value in {**topics.options(), **options}.items():
        reader = reader.option(option, str(value))
    return reader.load()


def _global_topics(compiled: Compiled) -> set[str]:
    sources = [n for n in compiled.plan.topology.nodes if isinstance(n, SourceNode) and n.is_global]
    return {topic for source in sources for topic in compiled.plan.topics_of(source)}


def _listen(session: SparkSession, name: str, compiled: Compiled, raised: list[Exception]) -> None:
    jvm: Any = session._jvm
    callbacks: Any = ensure_callback_server_started
    callbacks(session.sparkContext._gateway)

    def receive(data: bytes) -> None:
        try:
            _show(compiled, data)
        except Exception as error:
            # Spark hands on only the text of what a callback raises.
            raised.append(error)
            raise

    jvm.brookmere.kernel.transport.Sinks.listen(name, _Taps(receive))


def _show(compiled: Compiled, data: bytes) -> None:
    found = [w for w in read_outputs(data) if isinstance(w, Written)]
    show([(w.node, w.key, w.value) for w in found], compiled)


class _Taps:
    """Receives, in the JVM's name, what the taps of a batch saw."""

    def __init__(self, receive: Callable[[bytes], None]) -> None:
        self._receive = receive

    def tapped(self, rows: Any) -> None:
        self._receive(bytes(rows))

    class Java:
        implements = ("brookmere.kernel.transport.TapListener",)
