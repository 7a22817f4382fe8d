"""Addresses such as 127.0.0.1:7000."""

from __future__ import annotations

from brookmere.errors import ConfigError


def parse_address(address: str) -> tuple[str, int]:
    """Return the host and the port of an address; port 0 means any free port.

    >>> parse_address("[::1]:7000")
    ('::1', 7000)
    """
    host, colon, port = address.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    fits = colon and port.isascii() and port.isdigit() and int(port) < 65_536
    if not fits or not host or (":" in host and not bracketed):
        raise ConfigError(
            f"{address!r} is not an address to listen on. "
            "Pass a host and a port, such as 127.0.0.1:7000 or [::1]:7000."
        )
    return host.strip("[]"), int(port)


def shown_address(host: str, port: int) -> str:
    """Return the address as it appears in a URL."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
