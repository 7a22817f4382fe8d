"""Resolves `${env:NAME}` and `${file:path:key}` in settings."""

from __future__ import annotations

import os
import re
from pathlib import Path

from brookmere.config.properties import read_properties
from brookmere.errors import ConfigError, Fault
from brookmere.names import nearest

_REFERENCE = re.compile(r"\$\{([^}:]*):([^}]*)\}")


def resolved(name: str, value: str, faults: list[Fault]) -> str:
    """Return the value of the setting `name` with all references replaced; add missing ones to `faults`."""

    def replaced(found: re.Match[str]) -> str:
        try:
            return _looked_up(found[1], found[2])
        except LookupError as error:
            what, remedy = error.args
            faults.append(Fault(f"The setting {name} refers to {found[0]}: {what}", None, remedy))
            return ""

    return _REFERENCE.sub(replaced, value)


def _looked_up(provider: str, rest: str) -> str:
    if provider == "env":
        return _environment(rest)
    if provider == "file":
        return _file(rest)
    raise LookupError(f"there is no provider {provider!r}", "Write ${env:NAME} or ${file:path:key}")


def _environment(name: str) -> str:
    if name not in os.environ:
        raise LookupError("there is no such environment variable", f"Set {name or 'one'}, and start again")
    return os.environ[name]


def _file(rest: str) -> str:
    path, colon, key = rest.rpartition(":")
    if not colon or not path or not key:
        raise LookupError("it does not name a key of a file", "Write ${file:path:key}, for a properties file")
    try:
        content = read_properties(Path(path).expanduser())
    except ConfigError as error:
        raise LookupError("the file cannot be read", str(error)) from error
    if key not in content:
        close = nearest(key, content)
        remedy = f"Did you mean {close}?" if close else f"Add a line {key}=... to {path}"
        raise LookupError(f"the file has no key {key}", remedy)
    return content[key][0]
