"""The login in a sasl.jaas.config: the module and its options."""

from __future__ import annotations

import re
from collections.abc import Mapping

from brookmere.errors import ConfigError

_OPTION = re.compile(r"""\s+([\w.-]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|([^\s;"']+))""")
_HEAD = re.compile(r"\s*([\w.$]+)\s+(required|requisite|sufficient|optional)", re.IGNORECASE)


def parse_jaas(text: str) -> tuple[str, dict[str, str]]:
    """Return the class of the login module and its options.

    >>> parse_jaas('org.example.PlainLoginModule required username="ann" password=secret;')
    ('org.example.PlainLoginModule', {'username': 'ann', 'password': 'secret'})

    Raises:
        ConfigError: the text is not a valid JAAS login; the error does not show it.
    """
    head = _HEAD.match(text)
    if head is None:
        raise _wrong()
    options: dict[str, str] = {}
    at = head.end()
    while found := _OPTION.match(text, at):
        quoted = found[2] if found[2] is not None else found[3]
        options[found[1]] = found[4] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
        at = found.end()
    if text[at:].strip() != ";":
        raise _wrong()
    return head[1], options


def principal(settings: Mapping[str, str]) -> str:
    """Return the principal that Kafka derives from these settings, as far as they show it."""
    protocol = settings.get("security.protocol", "PLAINTEXT").upper()
    if protocol.startswith("SASL"):
        options = parse_jaas(settings["sasl.jaas.config"])[1] if "sasl.jaas.config" in settings else {}
        user = options.get("username") or options.get("principal") or options.get("clientId")
        return f"User:{user}" if user else "the user of this connection"
    if protocol == "SSL" and ("ssl.keystore.location" in settings or "ssl.keystore.key" in settings):
        return "the owner of the client's certificate"
    return "User:ANONYMOUS"


def _wrong() -> ConfigError:
    return ConfigError(
        "The setting sasl.jaas.config is not a valid JAAS login (its value is hidden). "
        'Write it as: MODULE required username="..." password="..."; or use sasl.username and sasl.password.'
    )
