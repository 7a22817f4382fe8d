"""Turns a request to a registry into HTTP, or into a call of a registry inside this process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit, urlunsplit

from brookmere.errors import RegistryError


@dataclass(frozen=True, slots=True)
class Access:
    """Where a registry is and who asks; the password shows up nowhere."""

    url: str = field(repr=False)
    basic_auth: tuple[str, str] | None = field(default=None, repr=False)
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    timeout: float = 10.0

    @property
    def addresses(self) -> list[str]:
        """The addresses, one after the other."""
        return [one.strip().rstrip("/") for one in self.url.split(",") if one.strip()]

    @property
    def shown(self) -> str:
        """The addresses as they may be shown."""
        return ",".join(without_user(one)[0] for one in self.addresses)


class Transport(Protocol):
    """Brings a request to a registry and its answer back."""

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return the HTTP status and the JSON of the answer."""


def transport_to(access: Access) -> Transport:
    """Return what talks to the registry at this address."""
    addresses = access.addresses
    if len(addresses) == 1 and addresses[0].startswith("mock://"):
        from brookmere.registry.server.mock import mock_registry

        return mock_registry(addresses[0].removeprefix("mock://"))
    for address in addresses:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RegistryError(
                f"The address of the schema registry cannot be used. Found {without_user(address)[0]!r}. "
                "Give one such as 'http://localhost:8081', or 'mock://name' for one inside the process."
            )
    if not addresses:
        raise RegistryError(
            "The schema registry has no address. Found ''. Give one such as 'http://localhost:8081'."
        )
    from brookmere.registry.client.http import Http

    return Http(access)


def without_user(address: str) -> tuple[str, tuple[str, str] | None]:
    """Return an address as it may be shown, and the user and the password that stood in it."""
    parts = urlsplit(address)
    if "@" not in parts.netloc:
        return address, None
    user, _, host = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    return urlunsplit(parts._replace(netloc=host)), (unquote(name), unquote(password))
