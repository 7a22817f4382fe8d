"""Puts the examples, and the compiled kernel where `make wheel` names it, into the wheel."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class WheelHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version != "standard":
            return
        # `brookmere demo` runs one of them; in a working copy it finds them where they are.
        build_data["force_include"][str(Path(self.root) / "examples")] = "brookmere/examples"
        if jar := os.environ.get("BROOKMERE_KERNEL_JAR"):
            build_data["force_include"][jar] = "brookmere/kernel/brookmere-kernel.jar"
        if jar := os.environ.get("BROOKMERE_KAFKA_JAR"):
            build_data["force_include"][jar] = "brookmere/kernel/kafka/brookmere-kafka.jar"
