"""The serde with which a replica stores keys that other programs write."""

from __future__ import annotations

from dataclasses import replace

from brookmere.serde import Registered, Serde, Windowed
from brookmere.serde.json.spark_json import SparkJson
from brookmere.serde.registered import TOPIC


def kept_key(key: Serde) -> Serde | None:
    """Return a serde that writes equal keys as equal bytes; None if the given serde already does.

    Other writers may order the members of an object differently or use another schema id. The application
    keeps one row for such keys, and so must a replica.
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
