"""Settings from the command line and a file, and the application that they configure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from brookmere.config import Config, read
from brookmere.dsl.base_builder import Builder
from brookmere.topology.nodes import Topology

if TYPE_CHECKING:
    from brookmere.run.application import Application


def application(program: Builder | Topology, file: Path | None, chosen: dict[str, str]) -> Application:
    """Return the application of a program; `chosen` settings override the file."""
    # Importing PySpark takes a second, which other commands should not pay for.
    from brookmere.run.application import Application

    if file is None:
        return Application(program, chosen)
    # Validated separately, so that errors refer to the command line and not to the file.
    read(chosen)
    return Application(program, file, **_keywords(chosen))


def configured(file: Path | None, chosen: dict[str, str]) -> Config:
    """Return the settings; `chosen` ones override the file."""
    checked = read(chosen)
    return checked if file is None else read(file, **_keywords(chosen))


def place_of_topics(config: Config) -> str:
    """Return a human-readable location of the topics."""
    if config.on_kafka:
        return f"Kafka topics at {config.kafka['bootstrap.servers']}"
    return f"topics in {config.topics_dir}"


def _keywords(chosen: dict[str, str]) -> dict[str, str]:
    return {name.replace(".", "__"): value for name, value in chosen.items()}
