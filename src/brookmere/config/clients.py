"""The settings of Kafka's consumers, producers and admin clients, taken from those of an application."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from brookmere.config.kafka_names import OWN, PREFIXES, SHARED, SHORT, TOPIC
from brookmere.config.references import resolved
from brookmere.config.settings import Config
from brookmere.errors import ConfigError, Fault

Client = Literal["consumer", "producer", "admin"]

_LOGIN = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}


def client_settings(config: Config, client: Client) -> dict[str, str]:
    """Return the properties of a consumer, producer or admin client of Kafka.

    A setting with the client's prefix takes precedence over one without. `${env:NAME}` and `${file:path:key}`
    are replaced by their values, so the result contains secrets: never log or store it.

    >>> from brookmere.config import read
    >>> config = read({"bootstrap.servers": "one:9092", "producer.linger.ms": 5, "consumer.client.rack": "a"})
    >>> client_settings(config, "producer")
    {'bootstrap.servers': 'one:9092', 'linger.ms': '5'}

    Raises:
        ConfigError: a reference leads nowhere, or the settings of SASL contradict each other.
    """
    chosen = _chosen(config.kafka, client)
    faults: list[Fault] = []
    found = {name: resolved(name, value, faults) for name, value in chosen.items()}
    if not faults:
        found = _with_login(found, faults)
    if faults:
        raise ConfigError(faults)
    return found


def topic_settings(config: Config) -> dict[str, str]:
    """Return the settings, without their prefix, of topics that an application creates for itself."""
    return {k.removeprefix(TOPIC): v for k, v in config.kafka.items() if k.startswith(TOPIC)}


def _chosen(given: Mapping[str, str], client: Client) -> dict[str, str]:
    mine = SHARED | SHORT | OWN[client]
    found = {name: value for name, value in given.items() if name in mine}
    for prefix in PREFIXES[client]:
        found |= {k.removeprefix(prefix): v for k, v in given.items() if k.startswith(prefix)}
    return found


def _with_login(found: dict[str, str], faults: list[Fault]) -> dict[str, str]:
    """Write sasl.username and sasl.password as sasl.jaas.config, as Kafka's clients expect it."""
    short = {name: found[name] for name in sorted(SHORT) if name in found}
    if not short:
        return found
    rest = {name: value for name, value in found.items() if name not in SHORT}
    mechanism = rest.get("sasl.mechanism", "").upper()
    if len(short) == 1:
        there, missing = *short, *(SHORT - short.keys())
        faults.append(Fault(f"The setting {there} is given without {missing}", None, "Set both, or neither"))
    elif "sasl.jaas.config" in rest:
        faults.append(
            Fault(
                "sasl.jaas.config is given together with sasl.username and sasl.password, which replace it",
                None,
                "Remove the first, or the other two",
            )
        )
    elif mechanism not in _LOGIN:
        found_here = (
            f"sasl.mechanism is {rest['sasl.mechanism']}" if mechanism else "there is no sasl.mechanism"
        )
        faults.append(
            Fault(
                f"sasl.username and sasl.password are given, but {found_here}",
                None,
                f"Set sasl.mechanism to {', '.join(list(_LOGIN)[:-1])} or {list(_LOGIN)[-1]}, "
                "or write sasl.jaas.config for another mechanism",
            )
        )
    else:
        user, password = _quoted(short["sasl.username"]), _quoted(short["sasl.password"])
        rest["sasl.jaas.config"] = f"{_LOGIN[mechanism]} required username={user} password={password};"
    return rest


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
