"""Settings of Kafka Streams and Kafka's clients that have another name here, or no effect."""

from __future__ import annotations

ALIASES = {
    "cache.max.bytes.buffering": "statestore.cache.max.bytes",
    "consumer.auto.offset.reset": "auto.offset.reset",
    "main.consumer.auto.offset.reset": "auto.offset.reset",
    "default.deserialization.exception.handler": "deserialization.exception.handler",
    "default.production.exception.handler": "production.exception.handler",
}
"""Other names of settings."""

REFUSED = {
    "bootstrap.servers": (
        "Brookmere cannot run on Kafka yet",
        "Leave it out: the application then runs on the embedded topics in topics.dir",
    ),
}
"""Settings without which another program would run than the one asked for: what is wrong, what to do."""

INSTEAD = {
    "default.key.serde": "pass key= to StreamsBuilder",
    "default.value.serde": "pass value= to StreamsBuilder",
    "default.dsl.store": "use store.type",
    "dsl.store.suppliers.class": "use store.type",
    "max.poll.records": "use max.batch.records",
}
"""What has the effect that a setting without effect has in Kafka Streams."""

WITHOUT_EFFECT = frozenset(
    {
        *INSTEAD,
        "acceptable.recovery.lag",
        "allow.os.group.write.access",
        "application.server",
        "buffered.records.per.partition",
        "built.in.metrics.version",
        "client.id",
        "client.rack",
        "config.providers",
        "connections.max.idle.ms",
        "default.client.supplier",
        "default.list.key.serde.inner",
        "default.list.key.serde.type",
        "default.list.value.serde.inner",
        "default.list.value.serde.type",
        "dsl.store.format",
        "enable.metrics.push",
        "ensure.explicit.internal.resource.naming",
        "group.protocol",
        "linger.ms",
        "log.summary.interval.ms",
        "max.poll.interval.ms",
        "max.task.idle.ms",
        "max.warmup.replicas",
        "metadata.max.age.ms",
        "metadata.recovery.rebootstrap.trigger.ms",
        "metadata.recovery.strategy",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "num.standby.replicas",
        "poll.ms",
        "probing.rebalance.interval.ms",
        "processing.exception.handler.global.enabled",
        "processor.wrapper.class",
        "rack.aware.assignment.non_overlap_cost",
        "rack.aware.assignment.strategy",
        "rack.aware.assignment.tags",
        "rack.aware.assignment.traffic_cost",
        "receive.buffer.bytes",
        "reconnect.backoff.max.ms",
        "reconnect.backoff.ms",
        "repartition.purge.interval.ms",
        "replication.factor",
        "request.timeout.ms",
        "retries",
        "retry.backoff.max.ms",
        "retry.backoff.ms",
        "rocksdb.config.setter",
        "security.protocol",
        "send.buffer.bytes",
        "session.timeout.ms",
        "state.cleanup.delay.ms",
        "state.cleanup.dir.max.age.ms",
        "task.assignor.class",
        "task.timeout.ms",
        "transaction.timeout.ms",
        "upgrade.from",
        "window.size.ms",
        "windowed.inner.class.serde",
    }
)
"""Settings of Kafka Streams that have nothing to set here."""

PREFIXES = (
    "admin.",
    "client.tag.",
    "consumer.",
    "global.consumer.",
    "main.consumer.",
    "metrics.context.",
    "producer.",
    "restore.consumer.",
    "sasl.",
    "ssl.",
    "topic.",
)
"""Beginnings of the names of settings for Kafka's clients and its internal topics."""


def without_effect(name: str) -> bool:
    """Tell whether Kafka Streams knows a setting that does nothing here."""
    return name in WITHOUT_EFFECT or name.startswith(PREFIXES)
