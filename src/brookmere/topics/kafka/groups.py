"""Committed offsets of consumer groups: read, set and delete them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition

from brookmere.topics.kafka.connection import Connection
from brookmere.topics.kafka.failures import Asked


class Groups:
    """The consumer groups of a Kafka cluster, as `KafkaTopics.groups`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def names(self) -> list[str]:
        """Return the names of all groups that this user may see, sorted."""
        asked = Asked("The consumer groups of Kafka cannot be listed", "Describe", "cluster", "kafka-cluster")
        found = self._connection.answer(self._connection.admin.list_consumer_groups, asked)
        return sorted(group.group_id for group in found.valid)

    def members(self, group: str) -> list[str]:
        """Return the current members of a group as client and host; empty if the group does not exist."""
        asked = Asked(f"The consumer group {group!r} cannot be described", "Describe", "group", group)
        found = self._connection.answer(
            lambda: self._connection.admin.describe_consumer_groups([group])[group], asked
        )
        return [f"{member.client_id} on {member.host}" for member in found.members]

    def offsets(self, group: str) -> dict[tuple[str, int], int]:
        """Return a group's committed offsets, by topic and partition."""
        asked = Asked(
            f"The offsets of the consumer group {group!r} cannot be read", "Describe", "group", group
        )
        request = ConsumerGroupTopicPartitions(group)
        found = self._connection.answer(
            lambda: self._connection.admin.list_consumer_group_offsets([request])[group], asked
        )
        return {
            (each.topic, each.partition): each.offset for each in found.topic_partitions if each.offset >= 0
        }

    def set_offsets(self, group: str, offsets: Mapping[str, Sequence[int]]) -> None:
        """Commit offsets, by topic one per partition, on behalf of a group without members."""
        asked = Asked(f"The offsets of the consumer group {group!r} cannot be set", "Read", "group", group)
        places = [
            TopicPartition(topic, partition, offset)
            for topic, all_of_them in offsets.items()
            for partition, offset in enumerate(all_of_them)
        ]
        request = ConsumerGroupTopicPartitions(group, places)
        done = self._connection.answer(
            lambda: self._connection.admin.alter_consumer_group_offsets([request])[group], asked
        )
        for each in done.topic_partitions:
            if each.error is not None:
                raise self._connection.failure(each.error, Asked(asked.what, "Read", "topic", each.topic))

    def delete(self, groups: Iterable[str]) -> None:
        """Delete groups without members, including their committed offsets."""
        for group in groups:
            asked = Asked(f"The consumer group {group!r} cannot be deleted", "Delete", "group", group)
            self._connection.answer(partial(self._delete, group), asked)

    def _delete(self, group: str) -> Any:
        return self._connection.admin.delete_consumer_groups([group])[group]
