"""Turns what Kafka and its client report into errors: what was asked, what was found, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from confluent_kafka import KafkaError

from brookmere.errors import AccessError, TopicError, TopicExistsError, UnknownTopicError, UnreachableError


@dataclass(frozen=True, slots=True)
class Asked:
    """What was to be done: in words, and what it needs to be allowed."""

    what: str
    """How an error begins, such as: The topic 'orders' cannot be read."""
    operation: str = "Describe"
    kind: str = "topic"
    """topic, group, cluster or transactional-id."""
    name: str = ""


class Cluster(Protocol):
    """Which cluster was asked, and by whom."""

    @property
    def brokers(self) -> str: ...

    @property
    def principal(self) -> str: ...

    def command(self, rest: str) -> str:
        """Return a command on topics of this cluster, as it is typed."""


_ACL = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "topic",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "group",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "cluster",
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "transactional-id",
}
_REFUSED = (KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED, KafkaError._SSL)
_UNKNOWN = (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION)


def is_refused(error: KafkaError) -> bool:
    """Tell whether the cluster does not let us in, which waiting does not mend."""
    return error.code() in _REFUSED


def refused(error: KafkaError, asked: Asked, cluster: Cluster) -> TopicError:
    """Return the error for a cluster that does not let us in."""
    if error.code() == KafkaError._SSL:
        remedy = (
            "Check that security.protocol is the listener's, that ssl.truststore.location holds the "
            "certificate that signed the broker's, and that the certificate names the host."
        )
    else:
        remedy = "Check sasl.mechanism and the user's name and password."
    who = f"{cluster.principal} cannot log in at {cluster.brokers}"
    text = f"{asked.what}: {who}. Found: {_words(error)} {remedy}"
    return AccessError(text, principal=cluster.principal)


def unreachable(said: KafkaError | None, asked: Asked, cluster: Cluster, waited: float) -> UnreachableError:
    """Return the error for a cluster that does not answer."""
    found = f" Found: {_words(said)}" if said else ""
    return UnreachableError(
        f"{asked.what}: no broker of bootstrap.servers={cluster.brokers} answered within {waited:.0f} "
        f"seconds.{found} Check the addresses, security.protocol and that Kafka runs (`brookmere kafka up` "
        "starts one for development); default.api.timeout.ms says how long to wait."
    )


def explained(error: KafkaError, asked: Asked, cluster: Cluster) -> TopicError:
    """Return the error for an answer of the cluster."""
    code = error.code()
    if is_refused(error):
        return refused(error, asked, cluster)
    if code in _ACL:
        # Who may write to no topic at all is told that the cluster does not allow it.
        kind = "topic" if asked.operation == "Write" else _ACL[code]
        return _denied(kind, asked, cluster)
    if code in _UNKNOWN:
        return UnknownTopicError(
            f"{asked.what}: there is no topic {asked.name!r} at {cluster.brokers}. "
            f"`{cluster.command('list')}` shows what there is."
        )
    if code == KafkaError.TOPIC_ALREADY_EXISTS:
        return TopicExistsError(
            f"The topic {asked.name!r} is there already, at {cluster.brokers}. Use it, choose another name, "
            f"or delete it with `{cluster.command(f'delete {asked.name}')}`."
        )
    return TopicError(f"{asked.what}, says Kafka at {cluster.brokers}. Found: {_words(error)}{_remedy(code)}")


def _denied(kind: str, asked: Asked, cluster: Cluster) -> TopicError:
    resource = f"--{kind}" if kind == "cluster" else f"--{kind} {asked.name}"
    thing = "the cluster" if kind == "cluster" else f"the {kind.replace('-', ' ')} {asked.name!r}"
    grant = (
        f"kafka-acls --bootstrap-server {cluster.brokers} --add --allow-principal {cluster.principal} "
        f"--operation {asked.operation} {resource}"
    )
    return AccessError(
        f"{asked.what}: {cluster.principal} is not allowed the operation {asked.operation} on {thing}, says "
        f"Kafka at {cluster.brokers}. An administrator grants it with `{grant}`.",
        principal=cluster.principal,
        operation=asked.operation,
        resource=kind if kind == "cluster" else f"{kind} {asked.name}",
    )


def _remedy(code: int) -> str:
    if code == KafkaError.INVALID_REPLICATION_FACTOR:
        return " Set replication.factor (--replication-factor) to no more than there are brokers, or to -1."
    if code == KafkaError.INVALID_CONFIG:
        return " Correct the setting; Kafka's documentation lists those of topics."
    if code in (KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG_SIZE):
        return " Make the record smaller, or raise max.message.bytes of the topic and max.request.size."
    return ""


def _words(error: KafkaError) -> str:
    text = (error.str() or error.name()).strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
