"""Embedded topics: create, open, list and delete the topics in a directory."""

from __future__ import annotations

import errno
import shlex
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path

from brookmere.errors import TopicExistsError, UnknownTopicError
from brookmere.names import illegal
from brookmere.serde import Serde
from brookmere.topics.any_topics import Start
from brookmere.topics.consumer import Consumer
from brookmere.topics.home import default_topics_directory
from brookmere.topics.log.files import explained, is_older, sync_folder, unique
from brookmere.topics.log.folder import LOCK_FILE, TOPIC_FILE, TopicFolder
from brookmere.topics.log.lock import locked
from brookmere.topics.log.topic import Topic
from brookmere.topics.settings import TopicConfig
from brookmere.topics.times import now_ms
from brookmere.topics.topic_set import TopicSet, check_name, check_new

# Not a valid topic name, so folders being created or deleted are never mistaken for topics.
_ON_THE_WAY = "~"
_LEFT_OVER_MS = 3_600_000


class Topics(TopicSet):
    """The topics in a directory: by default `topics` in $BROOKMERE_HOME, else in `./.brookmere`.

    >>> import tempfile
    >>> topics = Topics(tempfile.mkdtemp())
    >>> topics.create("orders", partitions=2).partitions
    2
    >>> list(topics)
    ['orders']
    """

    def __init__(self, directory: str | Path | None = None) -> None:
        self.directory = default_topics_directory() if directory is None else Path(directory).absolute()

    def __repr__(self) -> str:
        return f"Topics({str(self.directory)!r})"

    def command(self, rest: str) -> str:
        """Return the shell command that runs `brookmere topics` on these topics, for error messages."""
        usual = self.directory == default_topics_directory()
        option = "" if usual else f" --topics-dir {shlex.quote(str(self.directory))}"
        return f"brookmere topics {rest}{option}"

    def names(self) -> list[str]:
        """Return the names of all topics, sorted."""
        with explained("The topics cannot be listed", self.directory):
            if not self.directory.is_dir():
                return []
            return sorted(path.name for path in self.directory.iterdir() if path.name in self)

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str) or illegal(name) is not None:
            return False
        return (self.directory / name / TOPIC_FILE).is_file()

    def __getitem__(self, name: str) -> Topic:
        check_name(name)
        try:
            with explained(f"The topic {name!r} cannot be opened", self.directory / name):
                if name not in self:
                    raise self._no_topic(name)
                return Topic(TopicFolder.open(self.directory / name))
        except FileNotFoundError as error:
            raise self._no_topic(name) from error

    def create(
        self,
        name: str,
        partitions: int = 1,
        config: Mapping[str, object] | None = None,
        *,
        exist_ok: bool = False,
    ) -> Topic:
        """Create a topic. With `exist_ok` an existing one is returned unchanged."""
        check_new(name, partitions)
        typed = TopicConfig.of(config)
        with explained(f"The topic {name!r} cannot be created", self.directory):
            if name in self:
                return self._existing(name, exist_ok)
            self.directory.mkdir(parents=True, exist_ok=True)
            self._sweep()
            # The folder is renamed once it is complete, so nobody sees half a topic.
            building = self.directory / f"{_ON_THE_WAY}new-{unique()}"
            folder = TopicFolder(building, name, uuid.uuid4().hex, partitions, now_ms(), typed)
            try:
                folder.write()
                building.rename(self.directory / name)
            except OSError as error:
                shutil.rmtree(building, ignore_errors=True)
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    return self._existing(name, exist_ok)
                raise
            sync_folder(self.directory)
        return self[name]

    def delete(self, name: str) -> None:
        """Delete a topic and all its records; programs that have it open get an UnknownTopicError."""
        check_name(name)
        if name not in self:
            raise self._no_topic(name)
        folder = self.directory / name
        going = self.directory / f"{_ON_THE_WAY}deleted-{unique()}"
        with explained(f"The topic {name!r} cannot be deleted", folder):
            try:
                # Under the lock, so that no append is acknowledged and then lost.
                with locked(folder / LOCK_FILE):
                    folder.rename(going)
            except FileNotFoundError as error:
                raise self._no_topic(name) from error
            sync_folder(self.directory)
        shutil.rmtree(going, ignore_errors=True)

    def consumer(
        self,
        name: str,
        *,
        key: Serde | None = None,
        value: Serde | None = None,
        start: Start = "earliest",
        follow: bool = False,
    ) -> Consumer:
        """Return a consumer that starts at "earliest", "latest", a time, or offsets by partition.

        With offsets by partition, only these partitions are read.
        """
        return Consumer(self[name], key, value, start=start, follow=follow)

    def _existing(self, name: str, exist_ok: bool) -> Topic:
        if exist_ok and name in self:
            return self[name]
        if name not in self:
            raise TopicExistsError(
                f"The topic {name!r} cannot be created: {self.directory / name} exists and is not a topic. "
                "Move it, or choose another name."
            )
        raise TopicExistsError(
            f"The topic {name!r} already exists in {self.directory}. "
            f"Use it, choose another name, or delete it with `brookmere topics delete {name}`."
        )

    def _sweep(self) -> None:
        """Remove leftovers of a crash while creating or deleting."""
        for path in self.directory.glob(f"{_ON_THE_WAY}*-*"):
            if is_older(path, now_ms() - _LEFT_OVER_MS):
                shutil.rmtree(path, ignore_errors=True)

    def _no_topic(self, name: str) -> UnknownTopicError:
        return self._unknown(name, f"in {self.directory}", "brookmere topics {}".format)
