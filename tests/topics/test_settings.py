"""Settings of a topic: Kafka's names, typed."""

from __future__ import annotations

from datetime import timedelta

import pytest

from brookmere.errors import ConfigError
from brookmere.topics import TopicConfig


def test_defaults_keep_everything() -> None:
    config = TopicConfig.of(None)

    assert (config.cleanup_policy, config.retention_ms, config.retention_bytes) == ("delete", -1, -1)
    assert not config.compacts
    assert not config.stamps


@pytest.mark.parametrize("value", [60_000, "60000", timedelta(minutes=1)])
def test_a_time_is_a_number_a_text_or_a_duration(value: object) -> None:
    assert TopicConfig.of({"retention.ms": value}).retention_ms == 60_000


@pytest.mark.parametrize("value", ["compact,delete", "delete,compact", "delete, compact"])
def test_both_policies_in_any_order_are_the_same(value: str) -> None:
    config = TopicConfig.of({"cleanup.policy": value})

    assert config.cleanup_policy == "compact,delete"
    assert config.compacts
    assert config.deletes


def test_settings_survive_the_way_over_their_names() -> None:
    config = TopicConfig.of({"cleanup.policy": "compact", "delete.retention.ms": 5})

    assert TopicConfig.of(config.by_name()) == config


def test_an_unknown_setting_is_refused_with_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no setting 'retention.msec'. Did you mean retention.ms\?"):
        TopicConfig.of({"retention.msec": 1})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("retention.ms", -2),
        ("retention.ms", "soon"),
        ("retention.ms", True),
        ("retention.bytes", timedelta(1)),
        ("segment.bytes", 100),
        ("segment.bytes", 2**31),
        ("cleanup.policy", "shred"),
        ("cleanup.policy", ""),
        ("message.timestamp.type", "Never"),
    ],
)
def test_a_wrong_value_is_refused_with_what_was_found(name: str, value: object) -> None:
    with pytest.raises(ConfigError) as caught:
        TopicConfig.of({name: value})

    assert name in str(caught.value)
    assert repr(value) in str(caught.value)
