"""The names of the settings that an application passes on to Kafka's clients."""

from __future__ import annotations

import difflib

SHARED = frozenset(
    {
        "bootstrap.servers",
        "client.dns.lookup",
        "client.id",
        "connections.max.idle.ms",
        "enable.metrics.push",
        "metadata.max.age.ms",
        "metadata.recovery.rebootstrap.trigger.ms",
        "metadata.recovery.strategy",
        "receive.buffer.bytes",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "request.timeout.ms",
        "retry.backoff.max.ms",
        "retry.backoff.ms",
        "sasl.client.callback.handler.class",
        "sasl.jaas.config",
        "sasl.kerberos.kinit.cmd",
        "sasl.kerberos.min.time.before.relogin",
        "sasl.kerberos.service.name",
        "sasl.kerberos.ticket.renew.jitter",
        "sasl.kerberos.ticket.renew.window.factor",
        "sasl.login.callback.handler.class",
        "sasl.login.class",
        "sasl.login.connect.timeout.ms",
        "sasl.login.read.timeout.ms",
        "sasl.login.refresh.buffer.seconds",
        "sasl.login.refresh.min.period.seconds",
        "sasl.login.refresh.window.factor",
        "sasl.login.refresh.window.jitter",
        "sasl.login.retry.backoff.max.ms",
        "sasl.login.retry.backoff.ms",
        "sasl.mechanism",
        "sasl.oauthbearer.assertion.algorithm",
        "sasl.oauthbearer.assertion.claim.aud",
        "sasl.oauthbearer.assertion.claim.exp.seconds",
        "sasl.oauthbearer.assertion.claim.iss",
        "sasl.oauthbearer.assertion.claim.jti.include",
        "sasl.oauthbearer.assertion.claim.nbf.seconds",
        "sasl.oauthbearer.assertion.claim.sub",
        "sasl.oauthbearer.assertion.file",
        "sasl.oauthbearer.assertion.private.key.file",
        "sasl.oauthbearer.assertion.private.key.passphrase",
        "sasl.oauthbearer.assertion.template.file",
        "sasl.oauthbearer.client.credentials.client.id",
        "sasl.oauthbearer.client.credentials.client.secret",
        "sasl.oauthbearer.clock.skew.seconds",
        "sasl.oauthbearer.expected.audience",
        "sasl.oauthbearer.expected.issuer",
        "sasl.oauthbearer.header.urlencode",
        "sasl.oauthbearer.jwks.endpoint.refresh.ms",
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        "sasl.oauthbearer.jwks.endpoint.retry.backoff.ms",
        "sasl.oauthbearer.jwks.endpoint.url",
        "sasl.oauthbearer.jwt.retriever.class",
        "sasl.oauthbearer.jwt.validator.class",
        "sasl.oauthbearer.scope",
        "sasl.oauthbearer.scope.claim.name",
        "sasl.oauthbearer.sub.claim.name",
        "sasl.oauthbearer.token.endpoint.url",
        "security.protocol",
        "security.providers",
        "send.buffer.bytes",
        "socket.connection.setup.timeout.max.ms",
        "socket.connection.setup.timeout.ms",
        "ssl.cipher.suites",
        "ssl.enabled.protocols",
        "ssl.endpoint.identification.algorithm",
        "ssl.engine.factory.class",
        "ssl.key.password",
        "ssl.keymanager.algorithm",
        "ssl.keystore.certificate.chain",
        "ssl.keystore.key",
        "ssl.keystore.location",
        "ssl.keystore.password",
        "ssl.keystore.type",
        "ssl.protocol",
        "ssl.provider",
        "ssl.secure.random.implementation",
        "ssl.trustmanager.algorithm",
        "ssl.truststore.certificates",
        "ssl.truststore.location",
        "ssl.truststore.password",
        "ssl.truststore.type",
    }
)
"""Settings of all clients."""

SHORT = frozenset({"sasl.password", "sasl.username"})
"""A short form of sasl.jaas.config."""

OWN = {
    "consumer": frozenset(
        {
            "check.crcs",
            "client.rack",
            "default.api.timeout.ms",
            "fetch.max.bytes",
            "fetch.max.wait.ms",
            "fetch.min.bytes",
            "interceptor.classes",
            "isolation.level",
            "max.partition.fetch.bytes",
        }
    ),
    "producer": frozenset(
        {
            "acks",
            "batch.size",
            "buffer.memory",
            "compression.gzip.level",
            "compression.lz4.level",
            "compression.type",
            "compression.zstd.level",
            "delivery.timeout.ms",
            "interceptor.classes",
            "linger.ms",
            "max.block.ms",
            "max.in.flight.requests.per.connection",
            "max.request.size",
            "metadata.max.idle.ms",
            "retries",
            "transaction.timeout.ms",
        }
    ),
    "admin": frozenset({"default.api.timeout.ms", "retries"}),
}
"""Settings of one kind of client."""

FIXED = frozenset(
    {
        "allow.auto.create.topics",
        "auto.commit.interval.ms",
        "enable.auto.commit",
        "enable.idempotence",
        "group.id",
        "group.instance.id",
        "group.protocol",
        "group.remote.assignor",
        "heartbeat.interval.ms",
        "key.deserializer",
        "key.serializer",
        "max.poll.interval.ms",
        "max.poll.records",
        "partition.assignment.strategy",
        "partitioner.class",
        "partitioner.ignore.keys",
        "session.timeout.ms",
        "transactional.id",
        "value.deserializer",
        "value.serializer",
    }
)
"""Settings of clients that the application sets itself."""

PREFIXES = {
    "consumer": ("consumer.", "main.consumer."),
    "producer": ("producer.",),
    "admin": ("admin.",),
}
"""Prefixes for the settings of one kind of client; a later one takes precedence."""

TOPIC = "topic."
"""The prefix for settings of topics that an application creates for itself."""


def is_passed_on(name: str) -> bool:
    """Whether a setting is passed on to a Kafka client, or to a topic that the application creates."""
    prefix, bare = _split(name)
    if not bare or bare in FIXED:
        return False
    return bool(prefix) or bare in SHARED | SHORT or any(bare in own for own in OWN.values())


def is_fixed(name: str) -> bool:
    """Whether a client setting is fixed by the application."""
    return _split(name)[1] in FIXED


def similar_names(name: str) -> tuple[str, ...]:
    """Return the client settings that a user could have meant by `name`; nothing if it is one of them.

    Clients accept unknown settings, for classes of the user. After a prefix, only almost equal names are
    therefore returned.
    """
    prefix, bare = _split(name)
    known = SHARED | SHORT | frozenset().union(*OWN.values())
    if prefix == TOPIC or bare in known:
        return ()
    if not prefix:
        return tuple(known)
    return tuple(f"{prefix}{close}" for close in difflib.get_close_matches(bare, known, n=1, cutoff=0.88))


def _split(name: str) -> tuple[str, str]:
    prefixes = (TOPIC, *(prefix for all_of_them in PREFIXES.values() for prefix in all_of_them))
    prefix = next((prefix for prefix in prefixes if name.startswith(prefix)), "")
    return prefix, name.removeprefix(prefix)
