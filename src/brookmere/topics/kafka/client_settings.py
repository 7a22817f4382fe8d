"""Settings of Kafka's Java clients, translated for the Python client."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from brookmere.errors import ConfigError
from brookmere.topics.kafka.login import parse_jaas

_SAME = frozenset(
    {
        "acks",
        "batch.size",
        "bootstrap.servers",
        "check.crcs",
        "client.id",
        "client.rack",
        "compression.type",
        "connections.max.idle.ms",
        "delivery.timeout.ms",
        "fetch.max.bytes",
        "fetch.min.bytes",
        "linger.ms",
        "max.in.flight.requests.per.connection",
        "max.partition.fetch.bytes",
        "metadata.max.age.ms",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "retry.backoff.max.ms",
        "retry.backoff.ms",
        "sasl.kerberos.service.name",
        "sasl.mechanism",
        "security.protocol",
        "socket.connection.setup.timeout.ms",
    }
)
_RENAMED = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.request.size": "message.max.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "request.timeout.ms": "socket.timeout.ms",
    "send.buffer.bytes": "socket.send.buffer.bytes",
}
_BEGIN_PEM = b"-----BEGIN"


def translated(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the settings for the Python client, without those that only exist in Java.

    Raises:
        ConfigError: the Python client does not support a setting: key stores in Java's own format.
    """
    found = {name: settings[name] for name in settings if name in _SAME}
    found |= {_RENAMED[name]: settings[name] for name in settings if name in _RENAMED}
    if settings.get("security.protocol", "").upper() in ("SSL", "SASL_SSL"):
        found |= _trust(settings) | _key(settings)
        check = settings.get("ssl.endpoint.identification.algorithm", "https")
        found["ssl.endpoint.identification.algorithm"] = check.lower() or "none"
    return found | _login(settings)


def _trust(settings: Mapping[str, str]) -> dict[str, str]:
    if "ssl.truststore.certificates" in settings:
        return {"ssl.ca.pem": settings["ssl.truststore.certificates"]}
    if "ssl.truststore.location" not in settings:
        return {}
    if _type(settings, "truststore") != "PEM":
        raise _refused(settings, "truststore")
    return {"ssl.ca.location": settings["ssl.truststore.location"]}


def _key(settings: Mapping[str, str]) -> dict[str, str]:
    password = {"ssl.key.password": settings["ssl.key.password"]} if "ssl.key.password" in settings else {}
    if "ssl.keystore.key" in settings:
        chain = settings.get("ssl.keystore.certificate.chain", "")
        return {"ssl.key.pem": settings["ssl.keystore.key"], "ssl.certificate.pem": chain, **password}
    if "ssl.keystore.location" not in settings:
        return {}
    place = settings["ssl.keystore.location"]
    kind = _type(settings, "keystore")
    if kind == "PEM":
        return {"ssl.key.location": place, "ssl.certificate.location": place, **password}
    if kind == "PKCS12":
        return {
            "ssl.keystore.location": place,
            "ssl.keystore.password": settings.get("ssl.keystore.password", ""),
        }
    raise _refused(settings, "keystore")


def _type(settings: Mapping[str, str], store: str) -> str:
    return settings.get(f"ssl.{store}.type", "JKS").upper()


def _refused(settings: Mapping[str, str], store: str) -> ConfigError:
    place = settings[f"ssl.{store}.location"]
    named = f"ssl.{store}.type"
    kind = f"{settings[named]}" if named in settings else "JKS, the default"
    if _is_pem(Path(place)):
        remedy = f"The file is PEM: set {named}=PEM."
    else:
        convert = (
            f"openssl pkcs12 -in store.p12 {'-nokeys' if store == 'truststore' else '-nodes'} -out store.pem"
        )
        if _type(settings, store) == "JKS":
            convert = (
                f"keytool -importkeystore -srckeystore {place} -destkeystore store.p12 -deststoretype PKCS12"
                f" && {convert}"
            )
        remedy = f"Convert it with `{convert}`, and set {named}=PEM and ssl.{store}.location=store.pem."
    usable = "PEM" if store == "truststore" else "PEM or PKCS12"
    return ConfigError(
        f"The {store} {place} cannot be used. {named} is {kind}; it must be {usable}. {remedy}"
    )


def _is_pem(file: Path) -> bool:
    try:
        return _BEGIN_PEM in file.read_bytes()[:65536]
    except OSError:
        return False


def _login(settings: Mapping[str, str]) -> dict[str, str]:
    if not settings.get("security.protocol", "").upper().startswith("SASL"):
        return {}
    if "sasl.jaas.config" not in settings:
        return {}
    _, options = parse_jaas(settings["sasl.jaas.config"])
    mechanism = settings.get("sasl.mechanism", "GSSAPI").upper()
    if mechanism == "GSSAPI":
        names = {"principal": "sasl.kerberos.principal", "keyTab": "sasl.kerberos.keytab"}
    elif mechanism == "OAUTHBEARER":
        return _token(settings, options)
    else:
        names = {"username": "sasl.username", "password": "sasl.password"}
    return {theirs: options[name] for name, theirs in names.items() if name in options}


def _token(settings: Mapping[str, str], options: Mapping[str, str]) -> dict[str, str]:
    first = "sasl.oauthbearer.client.credentials.client"
    found = {
        "sasl.oauthbearer.token.endpoint.url": settings.get("sasl.oauthbearer.token.endpoint.url"),
        "sasl.oauthbearer.client.id": settings.get(f"{first}.id", options.get("clientId")),
        "sasl.oauthbearer.client.secret": settings.get(f"{first}.secret", options.get("clientSecret")),
        "sasl.oauthbearer.scope": settings.get("sasl.oauthbearer.scope", options.get("scope")),
    }
    given = {name: value for name, value in found.items() if value is not None}
    return {"sasl.oauthbearer.method": "oidc", **given} if given else {}
