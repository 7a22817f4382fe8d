"""Turns the names of topics into producers and refusals, in the same way for a directory and for Kafka."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from datetime import timedelta

from brookmere.durations import Duration
from brookmere.errors import TopicError, UnknownTopicError
from brookmere.names import illegal, nearest
from brookmere.serde import Serde
from brookmere.topics.any_topics import AnyTopic
from brookmere.topics.producer import Producer


class TopicSet(ABC):
    """Topics by their names, wherever they are kept."""

    @abstractmethod
    def names(self) -> list[str]:
        """Return the names of all topics, sorted."""

    @abstractmethod
    def __getitem__(self, name: str) -> AnyTopic: ...

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def producer(
        self,
        name: str,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        linger: Duration = timedelta(0),
    ) -> Producer:
        """Return a producer that writes keys and values with these serdes; without one they are bytes."""
        return Producer(self[name], key, value, linger=linger)

    def _unknown(self, name: str, where: str, command: Callable[[str], str]) -> UnknownTopicError:
        """Return the error about a name that no topic has; `command` makes one of `create x` and `list`."""
        meant = nearest(name, self.names())
        hint = f"Did you mean {meant!r}? " if meant else ""
        return UnknownTopicError(
            f"There is no topic {name!r} {where}. {hint}"
            f"`{command(f'create {name}')}` creates it; `{command('list')}` shows what there is."
        )


def check_name(name: str) -> None:
    """Raise a TopicError where no topic can have this name."""
    if illegal(name) is not None:
        raise TopicError(
            f"{name!r} cannot be the name of a topic. "
            "Use up to 249 letters, digits, dots, underscores and hyphens, and not only . or .. ."
        )


def check_new(name: str, partitions: int) -> None:
    """Raise a TopicError where no topic can be created with this name and so many partitions."""
    check_name(name)
    if isinstance(partitions, bool) or not isinstance(partitions, int) or partitions < 1:
        raise TopicError(
            f"The topic {name!r} cannot be created with {partitions!r} partitions: give it at least 1."
        )
