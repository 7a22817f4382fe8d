"""The directory of a demo: its program, topics and state."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import brookmere as bm
from brookmere.errors import CommandError
from brookmere.topics import Consumer, Topics

PROGRAM = "word_count.py"


@dataclass(frozen=True, slots=True)
class Place:
    """The directory of a demo, laid out so that commands started there find everything."""

    directory: Path
    program_name: str = PROGRAM

    @staticmethod
    def make(
        directory: Path | None, program: str = PROGRAM, topics: Iterable[str] = ("lines", "word-counts")
    ) -> Place:
        """Lay out a directory, or a new temporary one; existing files are kept."""
        chosen = (
            Path(tempfile.mkdtemp(prefix="brookmere-demo-")) if directory is None else directory.absolute()
        )
        chosen.mkdir(parents=True, exist_ok=True)
        place = Place(chosen, program)
        if not place.program.exists():
            shutil.copyfile(example(program), place.program)
        for topic in topics:
            place.topics.create(topic, exist_ok=True)
        return place

    @property
    def program(self) -> Path:
        return self.directory / self.program_name

    @property
    def topics(self) -> Topics:
        return Topics(self.directory / ".brookmere" / "topics")

    def settings(self) -> dict[str, object]:
        return {
            "topics.dir": self.topics.directory,
            "state.dir": self.directory / ".brookmere" / "state",
            # A demo is too short for the optimising compiler; without it, the first result comes much sooner.
            "spark.driver.extraJavaOptions": "-Xss8m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        }

    def counts(self) -> Consumer:
        """Return a consumer of the counts, including those of an earlier demo in the same directory."""
        return self.topics.consumer("word-counts", key=bm.Text(), value=bm.Long())


def example(name: str) -> Path:
    """Return the file of an example: part of a wheel, or next to the sources in a working copy."""
    package = Path(bm.__file__).parent
    for folder in (package / "examples", package.parents[1] / "examples"):
        if (folder / name).is_file():
            return folder / name
    raise CommandError(
        f"The example {name} is missing from {package}.\nReinstall brookmere: it is incomplete."
    )
