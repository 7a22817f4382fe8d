"""Turns Maven coordinates into files, by the Ivy that PySpark's jars contain."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit
from xml.sax.saxutils import quoteattr

from brookmere.jars.sets import Library
from brookmere.kernel.build import spark_jars
from brookmere.kernel.java import java_command, run_to_end

SETTINGS_VARIABLE = "BROOKMERE_IVY_SETTINGS"

# A run is short, so the quick JIT alone wins; a host that does not answer is given up on.
_JVM_FLAGS = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Xmx256m",
    "-Dsun.net.client.defaultConnectTimeout=15000",
    "-Dsun.net.client.defaultReadTimeout=60000",
)


class IvyError(Exception):
    """Ivy did not bring every library; the message is what it said about it."""


def download(libraries: Iterable[Library], directory: Path) -> None:
    """Bring the jars of these libraries, and of none they depend on, into an empty directory.

    Ivy compares each with the checksum beside it in the repository.
    """
    description = directory / "ivy.xml"
    description.write_text(_description(libraries), encoding="utf-8")
    settings = os.environ.get(SETTINGS_VARIABLE)
    command = [
        str(java_command()),
        *_JVM_FLAGS,
        *_proxy_flags(os.environ),
        # Alone: among the other jars it would find another HTTP client, which heeds neither time nor proxy.
        *("-cp", f"{next(spark_jars().glob('ivy-[0-9]*.jar'))}", "org.apache.ivy.Main"),
        *(("-settings", settings) if settings else ()),
        *("-cache", str(directory / "ivy")),
        *("-ivy", str(description)),
        *("-confs", "default"),
        *("-retrieve", f"{directory}/[artifact]-[revision].[ext]"),
    ]
    outcome = run_to_end(command)
    if outcome.returncode != 0 or any(not (directory / library.file).exists() for library in libraries):
        raise IvyError(_complaint(outcome.stdout))


def _description(libraries: Iterable[Library]) -> str:
    dependencies = "".join(
        f"    <dependency org={quoteattr(library.group)} name={quoteattr(library.name)} "
        f'rev={quoteattr(library.version)} conf="default->master" transitive="false"/>\n'
        for library in libraries
    )
    return (
        '<ivy-module version="2.0">\n'
        '  <info organisation="brookmere" module="jars"/>\n'
        '  <configurations><conf name="default"/></configurations>\n'
        f"  <dependencies>\n{dependencies}  </dependencies>\n"
        "</ivy-module>\n"
    )


def _proxy_flags(environment: Mapping[str, str]) -> list[str]:
    """Tell Java of the proxies that the environment names, which it does not look at itself."""
    flags = []
    for scheme in ("http", "https"):
        name = f"{scheme}_proxy"
        address = urlsplit(environment.get(name) or environment.get(name.upper()) or "")
        if address.hostname:
            port = address.port or (443 if address.scheme == "https" else 80)
            flags += [f"-D{scheme}.proxyHost={address.hostname}", f"-D{scheme}.proxyPort={port}"]
    without = environment.get("no_proxy") or environment.get("NO_PROXY")
    if flags and without:
        hosts = [host.strip() for host in without.split(",") if host.strip()]
        patterns = "|".join(f"*{host}" if host.startswith(".") else host for host in hosts)
        flags.append(f"-Dhttp.nonProxyHosts={patterns}")
    return flags


def _complaint(output: str) -> str:
    """Return what Ivy said of its failure, in short."""
    if unreached := re.search(r"^\s*Server access error at url \S+ \((.+)\)$", output, re.MULTILINE):
        return f"the repository cannot be reached ({unreached[1]})"
    if absent := re.findall(r"^\s*:: (\S+)#(\S+);(\S+): not found$", output, re.MULTILINE):
        return f"the repository does not have {', '.join(map(':'.join, absent))}"
    failed = re.compile(r"FAILED|[Ee]xception|ERROR:|Could not|Error:")
    lines = [line.strip() for line in output.splitlines() if failed.search(line)]
    return "; ".join(lines[:3]) or output.strip().rpartition("\n")[2] or "Ivy gave no reason"
