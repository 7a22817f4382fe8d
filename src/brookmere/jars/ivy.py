"""Download libraries with Ivy, which is one of PySpark's jars."""

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

# Short runs need only the C1 compiler; a host that does not respond times out.
_JVM_FLAGS = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Xmx256m",
    "-Dsun.net.client.defaultConnectTimeout=15000",
    "-Dsun.net.client.defaultReadTimeout=60000",
)


class IvyError(Exception):
    """Ivy could not download every library; the message is its reason."""


def download(libraries: Iterable[Library], directory: Path) -> None:
    """Download the jars of these libraries, without their dependencies, to an empty directory.

    Ivy compares each with its checksum in the repository.
    """
    description = directory / "ivy.xml"
    description.write_text(_description(libraries), encoding="utf-8")
    settings = os.environ.get(SETTINGS_VARIABLE)
    command = [
        str(java_command()),
        *_JVM_FLAGS,
        *_proxy_flags(os.environ),
        # Alone: with the other jars it would use another HTTP client, which ignores timeouts and proxies.
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
    """Return Java flags for the proxies of the environment, which Java itself ignores."""
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
    """Return a short reason for a failure of Ivy."""
    if unreached := re.search(r"^\s*Server access error at url \S+ \((.+)\)$", output, re.MULTILINE):
        return f"the repository cannot be reached ({unreached[1]})"
    if absent := re.findall(r"^\s*:: (\S+)#(\S+);(\S+): not found$", output, re.MULTILINE):
        return f"the repository does not have {', '.join(map(':'.join, absent))}"
    failed = re.compile(r"FAILED|[Ee]xception|ERROR:|Could not|Error:")
    lines = [line.strip() for line in output.splitlines() if failed.search(line)]
    return "; ".join(lines[:3]) or output.strip().rpartition("\n")[2] or "Ivy gave no reason"
