"""The Java libraries that Brookmere needs, from the cache, a directory or a Maven repository."""

from brookmere.jars.resolver import cached, collect, resolve
from brookmere.jars.sets import KAFKA_VERSION, SETS

__all__ = ["KAFKA_VERSION", "SETS", "cached", "collect", "resolve"]
