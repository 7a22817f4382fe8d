"""The settings of a topic, by Kafka's names, as typed values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any, Literal, Self, cast

from brookmere.durations import to_timedelta
from brookmere.errors import ConfigError
from brookmere.names import nearest

CleanupPolicy = Literal["delete", "compact", "compact,delete"]
TimestampType = Literal["CreateTime", "LogAppendTime"]
RetentionClock = Literal["wall", "records"]


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """The settings of a topic. `cleanup_policy` is Kafka's cleanup.policy, and so on."""

    cleanup_policy: CleanupPolicy = "delete"
    retention_ms: int = -1
    retention_bytes: int = -1
    segment_bytes: int = 64 * 1024 * 1024
    message_timestamp_type: TimestampType = "CreateTime"
    max_message_bytes: int = 1_048_588
    min_compaction_lag_ms: int = 0
    delete_retention_ms: int = 86_400_000
    file_delete_delay_ms: int = 60_000
    retention_clock: RetentionClock = "wall"
    """The reference for the age of a record: the current time, or its partition's newest record."""

    @classmethod
    def of(cls, config: Mapping[str, object] | None) -> Self:
        """Validate settings, given as numbers, durations or text, and fill in the defaults.

        >>> TopicConfig.of({"retention.ms": "1000"}).retention_ms
        1000
        """
        known = {field.name.replace("_", "."): field.name for field in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in (config or {}).items():
            if name not in known:
                raise _unknown(name, known)
            values[known[name]] = _typed(name, value)
        return cls(**values)

    def by_name(self) -> dict[str, str | int]:
        """Return the settings by Kafka's names.

        >>> TopicConfig().by_name()["cleanup.policy"]
        'delete'
        """
        return {field.name.replace("_", "."): getattr(self, field.name) for field in fields(self)}

    @property
    def compacts(self) -> bool:
        """Whether compaction eventually keeps only the last record of each key."""
        return "compact" in self.cleanup_policy

    @property
    def deletes(self) -> bool:
        """Whether old records are deleted by age or size."""
        return "delete" in self.cleanup_policy

    @property
    def stamps(self) -> bool:
        """Whether records get the time of their append instead of their own timestamp."""
        return self.message_timestamp_type == "LogAppendTime"


_LOWEST = {
    "retention.ms": -1,
    "retention.bytes": -1,
    "segment.bytes": 16 * 1024,
    "max.message.bytes": 0,
    "min.compaction.lag.ms": 0,
    "delete.retention.ms": 0,
    "file.delete.delay.ms": 0,
}
# Readers map a whole segment into memory at once.
_HIGHEST = {"segment.bytes": 2**30, "max.message.bytes": 2**30}
_TIMESTAMP_TYPES = ("CreateTime", "LogAppendTime")
_RETENTION_CLOCKS = ("wall", "records")


def _typed(name: str, value: object) -> str | int:
    if name == "cleanup.policy":
        return _cleanup_policy(value)
    if name == "message.timestamp.type":
        if value not in _TIMESTAMP_TYPES:
            raise _bad(name, value, "one of CreateTime and LogAppendTime")
        return str(value)
    if name == "retention.clock":
        if value not in _RETENTION_CLOCKS:
            raise _bad(name, value, "one of wall and records")
        return str(value)
    return _number(name, value)


def _cleanup_policy(value: object) -> CleanupPolicy:
    words = {word.strip() for word in value.split(",")} if isinstance(value, str) else set()
    if not words or not words <= {"compact", "delete"}:
        raise _bad("cleanup.policy", value, "one of delete, compact and compact,delete")
    return cast(CleanupPolicy, ",".join(sorted(words)))


def _number(name: str, value: object) -> int:
    lowest = _LOWEST[name]
    highest = _HIGHEST.get(name, 2**63 - 1)
    number: int | None = None
    if name.endswith(".ms") and isinstance(value, str) and not value.strip().removeprefix("-").isdecimal():
        try:
            value = to_timedelta(value)
        except ValueError:
            raise _bad(name, value, 'milliseconds, a timedelta, or a text such as "7d"') from None
    if isinstance(value, timedelta) and name.endswith(".ms"):
        number = value // timedelta(milliseconds=1)
    elif isinstance(value, int) and not isinstance(value, bool):
        number = value
    elif isinstance(value, str) and value.strip().removeprefix("-").isdecimal():
        number = int(value)
    if number is None or not lowest <= number <= highest:
        raise _bad(name, value, f"an integer from {lowest} to {highest}")
    return number


def _unknown(name: str, known: Mapping[str, str]) -> ConfigError:
    meant = nearest(name, known)
    remedy = f"Did you mean {meant}?" if meant else f"The settings of a topic are {', '.join(known)}."
    return ConfigError(f"A topic has no setting {name!r}. {remedy}")


def _bad(name: str, value: object, expected: str) -> ConfigError:
    return ConfigError(f"The topic setting {name} is invalid: found {value!r}. Set it to {expected}.")
