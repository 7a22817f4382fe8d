"""How a client reaches a registry: over HTTP, or by a call within this process."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit, urlunsplit

from brookmere.errors import RegistryError


@dataclass(frozen=True, slots=True)
class Access:
    """The address of a registry and the credentials; the password is never shown."""

    url: str = field(repr=False)
    basic_auth: tuple[str, str] | None = field(default=None, repr=False)
    ca_file: str | None = None
    cert_file: str | None = None
    key_file: str | None = None
    timeout: float = 10.0

    @property
    def addresses(self) -> list[str]:
        """The addresses, one by one."""
        return [one.strip().rstrip("/") for one in self.url.split(",") if one.strip()]

    @property
    def shown(self) -> str:
        """The addresses, without passwords."""
        return ",".join(without_user(one)[0] for one in self.addresses)


class Transport(Protocol):
    """Sends a request to a registry and returns its answer."""

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return the HTTP status and the JSON of the answer."""


def transport_to(access: Access) -> Transport:
    """Return the transport for the registry at this address."""
    addresses = access.addresses
    if len(addresses) == 1 and addresses[0].startswith("mock://"):
        from brookmere.registry.server.mock import mock_registry

        return mock_registry(addresses[0].removeprefix("mock://"))
    for address in addresses:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RegistryError(
                f"The address of the schema registry is invalid. Found {without_user(address)[0]!r}. "
                "Use one such as 'http://localhost:8081', or 'mock://name' for a registry inside the process."
            )
    if not addresses:
        raise RegistryError(
            "The address of the schema registry is empty. Found ''. Use one such as 'http://localhost:8081'."
        )
    from brookmere.registry.client.http import Http

    return Http(access)


def without_user(address: str) -> tuple[str, tuple[str, str] | None]:
    """Return an address without its credentials, and the user and password it contained."""
    parts = urlsplit(address)
    if "@" not in parts.netloc:
        return address, None
    user, _, host = parts.netloc.rpartition("@")
    name, _, password = user.partition(":")
    return urlunsplit(parts._replace(netloc=host)), (unquote(name), unquote(password))
