"""Reads the settings of an application from a mapping or a properties file, and from keywords."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from brookmere.config.kafka_names import is_passed_on, similar_names
from brookmere.config.kafka_streams_names import ALIASES, INSTEAD, without_effect
from brookmere.config.properties import read_properties
from brookmere.config.settings import Config, Setting, is_secret, table
from brookmere.errors import ConfigError, Fault
from brookmere.names import nearest

logger = logging.getLogger(__name__)

Settings = Config | Mapping[str, Any] | str | os.PathLike[str] | None
"""Settings by name, or the path of a properties file."""

_SPARK = "spark."
_BROKERS = "bootstrap.servers"


@dataclass(frozen=True, slots=True)
class _Given:
    """One setting as the user wrote it, and where."""

    name: str
    value: object
    where: str | None = None
    is_keyword: bool = False

    def written(self, name: str) -> str:
        """Return a name as the user would write it there."""
        return f"{name.replace('.', '__')}=" if self.is_keyword else name


def read(settings: Settings = None, **overrides: Any) -> Config:
    """Return typed settings; keywords have `__` for each dot and take precedence.

    >>> read({"commit.interval.ms": "100"}, num__stream__threads=2).commit_interval_ms
    100

    Raises:
        ConfigError: names or values are invalid; the error lists all of them.
    """
    base = settings if isinstance(settings, Config) else Config()
    rows = {row.name: row for row in table()}
    values: dict[str, Any] = {}
    spark, kafka = dict(base.spark), dict(base.kafka)
    faults: list[Fault] = []
    ignored: list[str] = []
    for given in [*_given(settings), *_keywords(overrides)]:
        name = ALIASES.get(given.name, given.name)
        if given.value is None:
            continue
        if name in rows:
            _convert(given, rows[name], values, faults)
        elif name.startswith(_SPARK):
            spark[name] = _text(given.value)
        elif is_passed_on(name):
            _hand_on(given, kafka, faults)
            ignored.append(name)
        elif without_effect(name):
            ignored.append(name)
        else:
            faults.append(_refused(given, [*rows, *ALIASES, *similar_names(name)]))
    if faults:
        raise ConfigError(faults)
    if _BROKERS not in kafka:
        kafka = {}
    _warn([name for name in ignored if name not in kafka])
    file = Path(settings).absolute() if isinstance(settings, str | os.PathLike) else base.file
    return replace(base, **values, spark=spark, kafka=kafka, file=file)


def _given(settings: Settings) -> Iterator[_Given]:
    if settings is None or isinstance(settings, Config):
        return
    if isinstance(settings, str | os.PathLike):
        file = Path(settings)
        for name, (value, line) in read_properties(file).items():
            yield _Given(name, value, f"{file}:{line}")
    elif isinstance(settings, Mapping):
        for name, value in settings.items():
            yield _Given(str(name), value)
    else:
        raise ConfigError(
            f"Settings are a mapping or the path of a file, found {type(settings).__name__}. "
            'Write for example {"commit.interval.ms": 100}.'
        )


def _keywords(overrides: Mapping[str, Any]) -> Iterator[_Given]:
    for name, value in overrides.items():
        yield _Given(name.replace("__", "."), value, is_keyword=True)


def _convert(given: _Given, row: Setting, values: dict[str, Any], faults: list[Fault]) -> None:
    try:
        values[row.attribute] = row.kind.parse(given.value)
    except (ValueError, KeyError):
        found = "[hidden]" if is_secret(given.name) else repr(given.value)
        faults.append(Fault(f"The setting {given.name} is {found}", given.where, f"Give it {row.kind.words}"))


def _refused(given: _Given, known: list[str]) -> Fault:
    # A keyword with one _ for a dot is near to no name until it has dots.
    close = nearest(given.name.replace("_", ".") if given.is_keyword else given.name, known)
    remedy = (
        f"Did you mean {given.written(close)}?" if close else "docs/reference/configuration.md lists them"
    )
    return Fault(f"There is no setting {given.written(given.name)}", given.where, remedy)


def _hand_on(given: _Given, kafka: dict[str, str], faults: list[Fault]) -> None:
    if close := similar_names(given.name)[:1]:
        faults.append(_refused(given, list(close)))
    kafka[given.name] = _text(given.value)
    if given.name == _BROKERS and not kafka[_BROKERS]:
        remedy = "Give it the addresses of Kafka's brokers, such as localhost:9092"
        faults.append(Fault(f"The setting {_BROKERS} is empty", given.where, remedy))


def _text(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_text, value))
    if isinstance(value, timedelta):
        return str(value // timedelta(milliseconds=1))
    return str(value).lower() if isinstance(value, bool) else str(value).strip()


def _warn(ignored: list[str]) -> None:
    if not ignored:
        return
    words = [f"{name} ({INSTEAD[name]})" if name in INSTEAD else name for name in dict.fromkeys(ignored)]
    logger.warning("settings of Kafka Streams that have no effect in Brookmere: %s", ", ".join(words))
