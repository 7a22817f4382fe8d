"""Draws changes of stores and cuts them into the chunks that a replica takes."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from brookmere.state.rows.backend import Backend
from brookmere.state.rows.chunk import Chunk
from brookmere.state.rows.memory import Memory
from brookmere.state.rows.rocksdb import Files
from tests.state.models import Change

PARTITIONS = 3
BACKENDS = st.sampled_from(["memory"] * 5 + ["files"])
"""Files take longer to open."""
KEYS = st.sampled_from([b"", b"\x00", b"\x00\x00", b"\x00\xff", b"a", b"a\x00", b"a\xff", b"ab", b"\xff\xff"])
TIMES = st.integers(0, 40)
SPANS = st.tuples(st.integers(-3, 44), st.integers(-3, 44))


@st.composite
def changes(draw: Callable[..., Any], *, sessions: bool = False) -> Change:
    """Draw a change; a third of them delete."""
    end = draw(TIMES)
    start = draw(st.integers(max(0, end - 5), end)) if sessions else end
    value = draw(st.one_of(st.none(), st.binary(max_size=2), st.binary(max_size=2)))
    return Change(draw(st.integers(0, PARTITIONS - 1)), draw(KEYS), draw(TIMES), value, end, start)


def chunks(found: list[Change], write: Callable[[Change], bytes], size: int) -> Iterator[Chunk]:
    """Cut changes into chunks of at most so many records of one partition, in order."""
    for at in range(0, len(found), size):
        for partition in range(PARTITIONS):
            part = [change for change in found[at : at + size] if change.partition == partition]
            if part:
                yield Chunk(
                    partition,
                    range(at, at + len(part)),
                    [change.timestamp for change in part],
                    [write(change) for change in part],
                    [change.value for change in part],
                    at + size,
                )


@contextmanager
def backend(kind: str, tables: tuple[str, ...]) -> Iterator[Backend]:
    """Open tables in memory or in files."""
    if kind == "memory":
        yield Memory(tables)
        return
    with tempfile.TemporaryDirectory() as directory:
        files = Files(Path(directory), tables)
        try:
            yield files
        finally:
            files.close()
