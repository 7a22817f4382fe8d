"""Turns the serde of keys in a topic of others into the one that a replica keeps them with."""

from __future__ import annotations

from dataclasses import replace

from brookmere.serde import Registered, Serde, Windowed
from brookmere.serde.json.spark_json import SparkJson
from brookmere.serde.registered import TOPIC


def kept_key(key: Serde) -> Serde | None:
    """Return a serde that writes equal keys in one way; None where every serde of its kind does.

    Who writes to a topic may order the members of an object as he likes, and a new version of a schema has
    another id in front: the application has one row for such keys all the same.
    """
    match key:
        case SparkJson():
            return replace(key, frame=None)
        case Windowed(form="binary"):
            inner = kept_key(key.inner)
            return None if inner is None else replace(key, inner=inner)
        case Registered() if key.client is not None:
            schema = key.schema if key.text is not None else key.expected().text
            return replace(
                key, schema=schema, registry=False, subject=TOPIC, register=True, use_latest=False
            )  # fmt: skip
    return None
