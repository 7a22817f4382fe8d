"""Settings of Kafka Streams and Kafka's clients that have another name or no effect in Brookmere."""

from __future__ import annotations

from brookmere.config.kafka_names import is_fixed

ALIASES = {
    "cache.max.bytes.buffering": "statestore.cache.max.bytes",
    "consumer.auto.offset.reset": "auto.offset.reset",
    "main.consumer.auto.offset.reset": "auto.offset.reset",
    "default.deserialization.exception.handler": "deserialization.exception.handler",
    "default.production.exception.handler": "production.exception.handler",
}
"""Other names of settings."""

INSTEAD = {
    "default.key.serde": "pass key= to StreamsBuilder",
    "default.value.serde": "pass value= to StreamsBuilder",
    "default.dsl.store": "use store.type",
    "dsl.store.suppliers.class": "use store.type",
    "application.server": "use brookmere run --serve HOST:PORT",
    "max.poll.records": "use max.batch.records",
    "num.standby.replicas": "start any number of brookmere replica",
}
"""What to use instead of a setting that has no effect."""

WITHOUT_EFFECT = frozenset(
    {
        *INSTEAD,
        "acceptable.recovery.lag",
        "allow.os.group.write.access",
        "buffered.records.per.partition",
        "built.in.metrics.version",
        "config.providers",
        "default.client.supplier",
        "default.list.key.serde.inner",
        "default.list.key.serde.type",
        "default.list.value.serde.inner",
        "default.list.value.serde.type",
        "dsl.store.format",
        "ensure.explicit.internal.resource.naming",
        "group.protocol",
        "log.summary.interval.ms",
        "max.poll.interval.ms",
        "max.task.idle.ms",
        "max.warmup.replicas",
        "metric.reporters",
        "metrics.num.samples",
        "metrics.recording.level",
        "metrics.sample.window.ms",
        "poll.ms",
        "probing.rebalance.interval.ms",
        "processing.exception.handler.global.enabled",
        "processor.wrapper.class",
        "rack.aware.assignment.non_overlap_cost",
        "rack.aware.assignment.strategy",
        "rack.aware.assignment.tags",
        "rack.aware.assignment.traffic_cost",
        "repartition.purge.interval.ms",
        "rocksdb.config.setter",
        "session.timeout.ms",
        "state.cleanup.delay.ms",
        "state.cleanup.dir.max.age.ms",
        "task.assignor.class",
        "upgrade.from",
        "window.size.ms",
        "windowed.inner.class.serde",
    }
)
"""Settings of Kafka Streams without a counterpart in Brookmere."""

PREFIXES = (
    "client.tag.",
    "global.consumer.",
    "metrics.context.",
    "restore.consumer.",
)
"""Prefixes of such settings."""


def without_effect(name: str) -> bool:
    """Whether a setting of Kafka Streams has no effect in Brookmere."""
    return name in WITHOUT_EFFECT or name.startswith(PREFIXES) or is_fixed(name)
