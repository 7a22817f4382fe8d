"""What is known about the application that APP names, by id or as a program, without running it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from brookmere.cli.options.settings import configured
from brookmere.cli.programs.load import Found, find, is_program
from brookmere.cli.terminal import console
from brookmere.config import Config
from brookmere.errors import CommandError, UnsupportedError
from brookmere.names import nearest
from brookmere.serde import Registry
from brookmere.serde.registered import registry_of
from brookmere.state import StoreInfo
from brookmere.state.description.store_file import STORES, read_stores, store_names
from brookmere.state.replica.replica import unknown_store
from brookmere.topics import AnyTopics, open_topics


@dataclass(frozen=True, slots=True)
class Known:
    """An application, which may be running elsewhere or not at all."""

    id: str
    config: Config
    found: Found | None
    """Its program, if one was given."""

    @property
    def directory(self) -> Path:
        """Where the application keeps its state."""
        return self.config.state_dir / self.id

    @property
    def registry(self) -> Registry | None:
        """The schema registry that its serdes use."""
        return registry_of(self.config)

    def topics(self) -> AnyTopics:
        """Return the topics that it works with."""
        return open_topics(self.config)

    def stores(self, names: Sequence[str] = ()) -> list[StoreInfo]:
        """Return its queryable stores: all of them, or those named.

        Raises:
            CommandError: it has not run yet, and its program is unknown.
            UnknownStoreError: there is no store with one of the names.
        """
        written = store_names(self.directory)
        if (self.directory / STORES).is_file() and (self.found is None or set(names) <= set(written)):
            self._check(names, written)
            try:
                return read_stores(self.directory, only=names or None, registry=self.registry) or []
            except UnsupportedError:
                if self.found is None:
                    raise
        if self.found is None:
            raise CommandError(
                f"The stores of the application {self.id} are unknown: there is no {STORES} in "
                f"{self.directory}.\nRun it once, or give its program instead of its id."
            )
        described = _described(self.found, self.config)
        self._check(names, [store.name for store in described])
        return [store for store in described if not names or store.name in names]

    def _check(self, names: Sequence[str], known: Sequence[str]) -> None:
        for name in names:
            if name not in known:
                raise unknown_store(self.id, name, known)


def known_application(target: str, file: Path | None, chosen: dict[str, str]) -> Known:
    """Return the application that `target` names; an application id wins over a module of that name.

    Raises:
        CommandError: there is no such application and no such program.
    """
    config = configured(file, chosen)
    ids = _ids(config.state_dir)
    if not is_program(target):
        if target in ids:
            return Known(target, config, None)
        if not _is_module(target):
            raise CommandError(_nobody(target, config.state_dir, ids))
    found = find(target)
    return Known(config.application_id or found.program.application_id, config, found)


def _ids(directory: Path) -> list[str]:
    """Return the applications that have state."""
    try:
        return sorted(each.name for each in directory.iterdir() if (each / STORES).is_file())
    except OSError:
        return []


def _is_module(target: str) -> bool:
    """Return whether a word names a module in this directory; any word may name an installed package."""
    return "." in target or Path(f"{target}.py").is_file() or Path(target, "__init__.py").is_file()


def _nobody(target: str, directory: Path, ids: Sequence[str]) -> str:
    close = nearest(target, ids)
    hint = (
        f"Did you mean {close}?"
        if close
        else "Name a program as file.py or module:name, or give the directory of its state with --state-dir."
    )
    return (
        f"There is no application {target!r}, and no file {target}.py here.\n"
        f"Applications with state in {directory}: {', '.join(ids) or 'none'}.\n{hint}"
    )


def _described(found: Found, config: Config) -> Sequence[StoreInfo]:
    """Analyse a program with Spark to find out the types of its stores."""
    # Importing PySpark takes a second, and is not needed if the application has run before.
    from brookmere.run.launch.check import describe_stores

    console.say(
        f"Analysing the stores of {found.place} with Spark; not needed once the application has run.",
        style="dim",
    )
    # Missing topics do not matter: nothing is read or created.
    return describe_stores(found.program, replace(config, auto_create_topics=True))
