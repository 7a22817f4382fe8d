"""All settings: one row each, with its type, its default and what it does."""

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
        """The name of the setting, with dots."""
        return self.attribute.replace("_", ".")


def home() -> Path:
    """Return the directory of topics and state: `$BROOKMERE_HOME`, or `.brookmere` in the current one."""
    # An absolute path stays the same if the program changes its working directory.
    return Path(os.environ.get("BROOKMERE_HOME") or ".brookmere").expanduser().absolute()


def is_secret(setting: str) -> bool:
    """Whether the value of a setting must not be shown."""
    return any(word in setting.casefold() for word in _SECRET)


def _row(kind: Kind[Any], does: str, default: Any, shown: str | None = None) -> Any:
    """Return the field of a setting. `shown` describes a default that is a function."""
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
"""Names in earlier versions of Kafka Streams."""
_EXTRACTOR_CLASSES = {
    "FailOnInvalidTimestamp": "fail",
    "LogAndSkipOnInvalidTimestamp": "skip",
    "UsePartitionTimeOnInvalidTimestamp": "partition-time",
    "WallclockTimestampExtractor": "wall-clock",
}


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Config:
    """The settings of an application. An attribute has the name of its setting, with `_` for each dot."""

    application_id: str | None = _row(
        name(),
        "the name of the application, its state directory and its internal topics",
        None,
        "the program's name",
    )
    topics_dir: Path = _row(  # noqa: RUF009 - a field, made once
        directory(), "the directory of the embedded topics", lambda: home() / "topics", ".brookmere/topics"
    )
    state_dir: Path = _row(  # noqa: RUF009 - a field, made once
        directory(),
        "where applications store their offsets and state, each in a directory of its name",
        lambda: home() / "state",
        ".brookmere/state",
    )
    auto_offset_reset: str = _row(
        one_of("earliest", "latest", "none"),
        "where an application without offsets starts to read; none refuses to start",
        "earliest",
    )
    auto_create_topics: bool = _row(
        flag(), "creates missing input topics; missing output topics are always created", False
    )
    default_partitions: int | None = _row(
        whole(1),
        "the number of partitions of topics that the application creates",
        None,
        "the largest number among the input topics",
    )
    commit_interval_ms: int = _row(
        milliseconds(),
        "the time between the starts of two batches; 0 starts a batch as soon as there are records",
        0,
    )
    wall_clock_interval_ms: int = _row(
        milliseconds(),
        "how often an application that depends on the wall clock reads it while no records arrive",
        1000,
    )
    default_timestamp_extractor: str = _row(
        one_of("fail", "skip", "partition-time", "wall-clock", classes=_EXTRACTOR_CLASSES),
        "what to do with a record whose timestamp is invalid, for sources that do not set one; wall-clock "
        "gives the records of all sources without a timestamp= the time at which they are processed",
        "fail",
    )
    max_batch_records: int = _row(
        whole(0, of="records"),
        "the approximate maximum number of records of a batch; 0 means no limit",
        1_000_000,
    )
    statestore_cache_max_bytes: int = _row(
        whole(0, of="bytes"),
        "0 writes every update of a table, any other number only the last one per key and batch",
        10 << 20,
    )
    num_stream_threads: int = _row(
        whole(1), "the number of cores that Spark uses; the first application of a process decides", _cores,
        "the machine's cores",
    )  # fmt: skip
    store_type: str = _row(
        one_of("auto", "memory", "rocksdb"),
        "the type of stores that do not set one; auto starts in memory and moves to RocksDB",
        "auto",
    )
    changelog_disabled: tuple[str, ...] = _row(
        names(), "named stores that write no changelog and so cannot be queried; all means all of them",
        (), "none",
    )  # fmt: skip
    windowstore_changelog_additional_retention_ms: int = _row(
        milliseconds(),
        "how much longer than their stores the changelogs of windows and sessions keep records",
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
        "the rules that rewrite the program before it runs",
        "none",
    )
    data_loss_handler: str = _row(
        one_of("fail", "continue"), "what to do when retention has removed unread records", "fail"
    )
    processing_guarantee: str = _row(
        one_of("exactly_once_v2", "at_least_once", aliases=_GUARANTEES),
        "exactly_once_v2 writes to Kafka in transactions; at_least_once does not, and may write results "
        "twice after a failure; embedded topics get them exactly once in either case; exactly_once and "
        "exactly_once_beta are other names of exactly_once_v2",
        "exactly_once_v2",
    )
    deserialization_exception_handler: str = _row(
        _HANDLER, "what to do with a record whose bytes cannot be decoded", "fail"
    )
    processing_exception_handler: str = _row(
        _HANDLER, "what to do with a record on which an operator fails", "fail"
    )
    production_exception_handler: str = _row(
        _HANDLER, "what to do with a record that cannot be written", "fail"
    )
    errors_dead_letter_queue_topic_name: str | None = _row(
        name(), "the topic for failed records, as they were read", None, "none"
    )
    replication_factor: int = _row(
        copies(),
        "on Kafka, the replication factor of topics that the application creates; -1 leaves it to the broker",
        -1,
    )
    task_timeout_ms: int = _row(
        milliseconds(), "on Kafka, how long to wait for brokers that do not answer", 300_000
    )
    jars_dir: Path | None = _row(  # noqa: RUF009 - a field, made once
        directory(),
        "on Kafka, a directory with the required Java libraries, so that nothing is downloaded",
        None,
        "none",
    )
    schema_registry_url: str | None = _row(
        addresses(), "the schema registry for serdes that do not name one", None, "none"
    )
    basic_auth_user_info: str | None = _row(
        text(), "user and password for the schema registry, separated by a colon", None, "none"
    )
    spark: Mapping[str, str] = field(default_factory=dict)
    """Settings of Spark, passed on unchanged."""
    kafka: Mapping[str, str] = field(default_factory=dict)
    """Settings of Kafka's clients, as given; `client_settings` returns those of one client."""

    file: Path | None = field(default=None, compare=False)
    """The file that the settings come from, if any."""

    @property
    def on_kafka(self) -> bool:
        """Whether the topics are on Kafka: bootstrap.servers is set."""
        return "bootstrap.servers" in self.kafka

    @property
    def continue_on(self) -> tuple[str, ...]:
        """The kinds of failures after which a record is skipped: deserialization, processing, production."""
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
