"""Errors reported by Kafka and its client, explained: the request, the cause, the remedy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from confluent_kafka import KafkaError

from brookmere.errors import AccessError, TopicError, TopicExistsError, UnknownTopicError, UnreachableError


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: its description for errors, and the permission it needs."""

    what: str
    """The start of the error message, such as: The topic 'orders' cannot be read."""
    operation: str = "Describe"
    kind: str = "topic"
    """topic, group, cluster or transactional-id."""
    name: str = ""


class Cluster(Protocol):
    """The cluster and the user of a request."""

    @property
    def brokers(self) -> str: ...

    @property
    def principal(self) -> str: ...

    def command(self, rest: str) -> str:
        """Return the shell command that runs `brookmere topics` on this cluster."""


_ACL = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "topic",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "group",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "cluster",
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "transactional-id",
}
_REFUSED = (KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED, KafkaError._SSL)
_UNKNOWN = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION)


def is_refused(error: KafkaError) -> bool:
    """Return whether the cluster refused the login, which waiting cannot fix."""
    return error.code() in _REFUSED


def refused(error: KafkaError, asked: Asked, cluster: Cluster) -> TopicError:
    """Return the error for a refused login."""
    if error.code() == KafkaError._SSL:
        remedy = (
            "Check that security.protocol matches the listener, that ssl.truststore.location contains the "
            "certificate that signed the broker's, and that the certificate names the host."
        )
    else:
        remedy = "Check sasl.mechanism, the user name and the password."
    who = f"{cluster.principal} cannot log in at {cluster.brokers}"
    text = f"{asked.what}: {who}. Found: {_words(error)} {remedy}"
    return AccessError(text, principal=cluster.principal)


def unreachable(said: KafkaError | None, asked: Asked, cluster: Cluster, waited: float) -> UnreachableError:
    """Return the error for a cluster that does not respond."""
    found = f" Found: {_words(said)}" if said else ""
    return UnreachableError(
        f"{asked.what}: no broker of bootstrap.servers={cluster.brokers} answered within {waited:.0f} "
        f"seconds.{found} Check the addresses, security.protocol and that Kafka runs (`brookmere kafka up` "
        "starts one for development); default.api.timeout.ms sets how long to wait."
    )


def explained(error: KafkaError, asked: Asked, cluster: Cluster) -> TopicError:
    """Return the error for a failed request."""
    code = error.code()
    if is_refused(error):
        return refused(error, asked, cluster)
    if code in _ACL:
        # A user without write access to any topic is refused by the cluster, not by the topic.
        kind = "topic" if asked.operation == "Write" else _ACL[code]
        return _denied(kind, asked, cluster)
    if code in _UNKNOWN:
        return UnknownTopicError(
            f"{asked.what}: there is no topic {asked.name!r} at {cluster.brokers}. "
            f"`{cluster.command('list')}` lists the existing topics."
        )
    if code == KafkaError.TOPIC_ALREADY_EXISTS:
        return TopicExistsError(
            f"The topic {asked.name!r} already exists at {cluster.brokers}. Use it, choose another name, "
            f"or delete it with `{cluster.command(f'delete {asked.name}')}`."
        )
    return TopicError(
        f"{asked.what}: Kafka at {cluster.brokers} refused the request. Found: {_words(error)}{_remedy(code)}"
    )


def _denied(kind: str, asked: Asked, cluster: Cluster) -> TopicError:
    resource = f"--{kind}" if kind == "cluster" else f"--{kind} {asked.name}"
    thing = "the cluster" if kind == "cluster" else f"the {kind.replace('-', ' ')} {asked.name!r}"
    grant = (
        f"kafka-acls --bootstrap-server {cluster.brokers} --add --allow-principal {cluster.principal} "
        f"--operation {asked.operation} {resource}"
    )
    return AccessError(
        f"{asked.what}: {cluster.principal} is not allowed the operation {asked.operation} on {thing} of "
        f"Kafka at {cluster.brokers}. An administrator can grant it with `{grant}`.",
        principal=cluster.principal,
        operation=asked.operation,
        resource=kind if kind == "cluster" else f"{kind} {asked.name}",
    )


def _remedy(code: int) -> str:
    if code == KafkaError.INVALID_REPLICATION_FACTOR:
        return " Set replication.factor (--replication-factor) to at most the number of brokers, or to -1."
    if code == KafkaError.INVALID_CONFIG:
        return " Correct the setting; Kafka's documentation lists the settings of topics."
    if code in (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG_SIZE):
        return " Make the record smaller, or raise max.message.bytes of the topic and max.request.size."
    return ""


def _words(error: KafkaError) -> str:
    text = (error.str() or error.name()).strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
