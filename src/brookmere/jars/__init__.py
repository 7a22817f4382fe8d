"""Turns names of Java libraries into jars: from the cache, a directory or the Maven repository."""

from brookmere.jars.collecting import collect
from brookmere.jars.resolving import cached, resolve
from brookmere.jars.sets import KAFKA_VERSION, SETS

__all__ = ["KAFKA_VERSION", "SETS", "cached", "collect", "resolve"]
