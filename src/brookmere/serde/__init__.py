"""Serdes: how keys and values become the bytes of a topic, and back; and the partition of a key."""

from __future__ import annotations

from brookmere.serde.bad_values import BadBytes
from brookmere.serde.base import Serde
from brookmere.serde.binary.numbers import Bool, Double, Int, Long
from brookmere.serde.binary.pickled import Pickled
from brookmere.serde.binary.text import Bytes, Text
from brookmere.serde.custom import Custom
from brookmere.serde.default import default_serde_for
from brookmere.serde.json.json import Json
from brookmere.serde.partition import murmur2, partition_for
from brookmere.serde.registered import Registered, Registry
from brookmere.serde.windowed import Windowed

__all__ = [
    "BadBytes",
    "Bool",
    "Bytes",
    "Custom",
    "Double",
    "Int",
    "Json",
    "Long",
    "Pickled",
    "Registered",
    "Registry",
    "Serde",
    "Text",
    "Windowed",
    "default_serde_for",
    "murmur2",
    "partition_for",
]
