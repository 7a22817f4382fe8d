"""The settings there are: one row each, with its type, its default and what it does."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from brookmere.config.kinds import (
    Kind,
    addresses,
    copies,
    directory,
    flag,
    milliseconds,
    name,
    names,
    one_of,
    some_of,
    text,
    whole,
)

Handler = Literal["fail", "continue"]

_SECRET = ("password", "passphrase", "secret", "jaas", "token", "credential", "keystore.key", "user.info")


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table of settings."""

    kind: Kind[Any]
    default: str
    """In words."""
    does: str
    attribute: str = ""

    @property
    def name(self) -> str:
        """The name under which Kafka Streams, or Spark's way of writing, knows it."""
        return self.attribute.replace("_", ".")


def home() -> Path:
    """Return where topics and state lie: `.brookmere` in the working directory, or `$BROOKMERE_HOME`."""
    # An absolute path keeps its meaning when the program changes its working directory later.
    return Path(os.environ.get("BROOKMERE_HOME") or ".brookmere").expanduser().absolute()


def is_secret(setting: str) -> bool:
    """Tell whether the value of a setting must not be shown."""
    return any(word in setting.casefold() for word in _SECRET)


def _row(kind: Kind[Any], does: str, default: Any, shown: str | None = None) -> Any:
    """Return the field of a setting. A default that depends on the machine is a function, and `shown`."""
    made: dict[str, Any] = {"default_factory": default} if callable(default) else {"default": default}
    words = (
        shown if shown is not None else str(default).lower() if isinstance(default, bool) else f"{default}"
    )
    return field(**made, metadata={"setting": Setting(kind, words, does)})


def _cores() -> int:
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


_HANDLER_CLASSES = {
    "LogAndFailExceptionHandler": "fail",
    "LogAndContinueExceptionHandler": "continue",
    "LogAndFailProcessingExceptionHandler": "fail",
    "LogAndContinueProcessingExceptionHandler": "continue",
    "DefaultProductionExceptionHandler": "fail",
}
_HANDLER = one_of("fail", "continue", classes=_HANDLER_CLASSES)
_GUARANTEES = {"exactly_once": "exactly_once_v2", "exactly_once_beta": "exactly_once_v2"}
"""Earlier versions of Kafka Streams had these."""
_EXTRACTOR_CLASSES = {
    "FailOnInvalidTimestamp": "fail",
    "LogAndSkipOnInvalidTimestamp": "skip",
    "UsePartitionTimeOnInvalidTimestamp": "partition-time",
    "WallclockTimestampExtractor": "wall-clock",
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Config:
    """The settings of an application. An attribute is called like its setting, with `_` for each dot."""

    application_id: str | None = _row(
        name(), "names the application, its state directory and what it writes", None, "the program's own"
    )
    topics_dir: Path = _row(  # noqa: RUF009 - a field, made once
        directory(), "where the embedded topics lie", lambda: home() / "topics", ".brookmere/topics"
    )
    state_dir: Path = _row(  # noqa: RUF009 - a field, made once
        directory(),
        "where applications keep their positions and their state, each in a directory of its name",
        lambda: home() / "state",
        ".brookmere/state",
    )
    auto_offset_reset: str = _row(
        one_of("earliest", "latest", "none"),
        "where an application without positions begins; none refuses to begin",
        "earliest",
    )
    auto_create_topics: bool = _row(
        flag(), "creates topics that are read and missing; those that are written are always created", False
    )
    default_partitions: int | None = _row(
        whole(1),
        "how many partitions a topic gets that the application creates",
        None,
        "the most that a topic has which is read",
    )
    commit_interval_ms: int = _row(
        milliseconds(),
        "how much time lies between the beginnings of two batches; 0 begins one as soon as there are records",
        0,
    )
    wall_clock_interval_ms: int = _row(
        milliseconds(),
        "how often an application that has to know the wall clock looks at it while no records come",
        1000,
    )
    default_timestamp_extractor: str = _row(
        one_of("fail", "skip", "partition-time", "wall-clock", classes=_EXTRACTOR_CLASSES),
        "what to do about a record whose time is invalid, for sources that leave it open; wall-clock gives "
        "the records of all sources without a timestamp= the time at which they are processed",
        "fail",
    )
    max_batch_records: int = _row(
        whole(0, of="records"), "how many records a batch has at most, about; 0 sets no bound", 1_000_000
    )
    statestore_cache_max_bytes: int = _row(
        whole(0, of="bytes"),
        "0 writes every update of a table, any other number the last one per key and batch",
        10 << 20,
    )
    num_stream_threads: int = _row(
        whole(1), "how many cores Spark uses; the first application of a process decides", _cores,
        "the machine's cores",
    )  # fmt: skip
    store_type: str = _row(
        one_of("auto", "memory", "rocksdb"),
        "the kind of the stores that leave it open; auto begins in memory and moves to RocksDB",
        "auto",
    )
    changelog_disabled: tuple[str, ...] = _row(
        names(), "stores with a name that write no changelog, and so cannot be queried; all is all of them",
        (), "none",
    )  # fmt: skip
    windowstore_changelog_additional_retention_ms: int = _row(
        milliseconds(),
        "how much longer than their stores the changelogs of windows and sessions keep a record",
        86_400_000,
    )
    topology_optimization: str = _row(
        some_of(
            "none",
            "all",
            "reuse.ktable.source.topics",
            "merge.repartition.topics",
            "single.store.self.join",
            "single.store.self.join.any",
        ),
        "which rules rewrite the program before it runs",
        "none",
    )
    data_loss_handler: str = _row(
        one_of("fail", "continue"), "what to do when retention has removed records that were not read", "fail"
    )
    processing_guarantee: str = _row(
        one_of("exactly_once_v2", "at_least_once", aliases=_GUARANTEES),
        "exactly_once_v2 writes to Kafka in transactions; at_least_once does not, and may write results "
        "twice after a failure; embedded topics get them exactly once in either case; exactly_once and "
        "exactly_once_beta are other names of exactly_once_v2",
        "exactly_once_v2",
    )
    deserialization_exception_handler: str = _row(
        _HANDLER, "what to do about a record whose bytes do not decode", "fail"
    )
    processing_exception_handler: str = _row(
        _HANDLER, "what to do about a record on which an operator fails", "fail"
    )
    production_exception_handler: str = _row(
        _HANDLER, "what to do about a record that cannot be written", "fail"
    )
    errors_dead_letter_queue_topic_name: str | None = _row(
        name(), "the topic that gets the records which failed, as they were read", None, "none"
    )
    replication_factor: int = _row(
        copies(),
        "on Kafka, how many copies a topic gets that the application creates; -1 leaves it to Kafka",
        -1,
    )
    task_timeout_ms: int = _row(
        milliseconds(), "on Kafka, how long brokers that do not answer are waited for", 300_000
    )
    jars_dir: Path | None = _row(  # noqa: RUF009 - a field, made once
        directory(),
        "on Kafka, a directory with the Java libraries that are needed; nothing is downloaded then",
        None,
        "none",
    )
    schema_registry_url: str | None = _row(
        addresses(), "the schema registry of the serdes that can use one and name none", None, "none"
    )
    basic_auth_user_info: str | None = _row(
        text(), "user and password for the schema registry, with a colon between them", None, "none"
    )
    spark: Mapping[str, str] = field(default_factory=dict)
    """Settings of Spark, handed on as they are."""
    kafka: Mapping[str, str] = field(default_factory=dict)
    """Settings of Kafka's clients, as they were given; `client_settings` has them for one client."""

    file: Path | None = field(default=None, compare=False)
    """The file that the settings come from, if they do."""

    @property
    def on_kafka(self) -> bool:
        """Whether the topics are those of Kafka: bootstrap.servers is given."""
        return "bootstrap.servers" in self.kafka

    @property
    def continue_on(self) -> tuple[str, ...]:
        """The kinds of failures that skip a record: deserialization, processing, production."""
        kinds = ("deserialization", "processing", "production")
        return tuple(kind for kind in kinds if getattr(self, f"{kind}_exception_handler") == "continue")

    def __repr__(self) -> str:
        fresh = Config()
        set_here = {row.name: getattr(self, row.attribute) for row in table()}
        shown = [
            f"{row.name}={'[hidden]' if is_secret(row.name) else set_here[row.name]}"
            for row in table()
            if set_here[row.name] != getattr(fresh, row.attribute)
        ]
        handed_on = {**self.kafka, **self.spark}
        shown += [f"{key}={'[hidden]' if is_secret(key) else value}" for key, value in handed_on.items()]
        return f"Config({', '.join(shown)})"


def table() -> tuple[Setting, ...]:
    """Return the rows of all settings."""
    rows = [(f.name, f.metadata["setting"]) for f in fields(Config) if "setting" in f.metadata]
    return tuple(Setting(row.kind, row.default, row.does, attribute) for attribute, row in rows)
