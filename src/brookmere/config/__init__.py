"""Turns settings, as Kafka Streams names them, into typed values."""

from brookmere.config.choice import check_choice
from brookmere.config.read import Settings, read
from brookmere.config.settings import Config, Handler, Setting, home, table

__all__ = ["Config", "Handler", "Setting", "Settings", "check_choice", "home", "read", "table"]
