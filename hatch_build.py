"""Puts the compiled kernel, where `make wheel` names one, beside its sources in the wheel."""

from __future__ import annotations

import os
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class KernelJarHook(BuildHookInterface):  # type: ignore[type-arg]
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        jar = os.environ.get("BROOKMERE_KERNEL_JAR")
        if jar and version == "standard":
            build_data["force_include"][jar] = "brookmere/kernel/brookmere-kernel.jar"
