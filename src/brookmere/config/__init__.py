"""The settings of an application, by the names that Kafka Streams has for them."""

from brookmere.config.choice import check_choice
from brookmere.config.clients import client_settings, topic_settings
from brookmere.config.read import Settings, read
from brookmere.config.settings import Config, Handler, Setting, home, is_secret, table

__all__ = [
    "Config",
    "Handler",
    "Setting",
    "Settings",
    "check_choice",
    "client_settings",
    "home",
    "is_secret",
    "read",
    "table",
    "topic_settings",
]
