"""Turns the settings of a command line into those of an application, and with a program into one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from brookmere.config import Config, read
from brookmere.dsl.program import Builder
from brookmere.topology.nodes import Topology

if TYPE_CHECKING:
    from brookmere.run.application import Application


def application(program: Builder | Topology, file: Path | None, chosen: dict[str, str]) -> Application:
    """Return the application of a program; what was chosen wins over the file."""
    # PySpark takes a second to load, which the other commands need not wait for.
    from brookmere.run.application import Application

    if file is None:
        return Application(program, chosen)
    # Checked by themselves, so that the words are about what stands in the command line.
    read(chosen)
    return Application(program, file, **_keywords(chosen))


def configured(file: Path | None, chosen: dict[str, str]) -> Config:
    """Return settings; what was chosen wins over the file."""
    checked = read(chosen)
    return checked if file is None else read(file, **_keywords(chosen))


def place_of_topics(config: Config) -> str:
    """Return where the topics are, for people."""
    if config.on_kafka:
        return f"topics of Kafka at {config.kafka['bootstrap.servers']}"
    return f"topics in {config.topics_dir}"


def _keywords(chosen: dict[str, str]) -> dict[str, str]:
    return {name.replace(".", "__"): value for name, value in chosen.items()}
