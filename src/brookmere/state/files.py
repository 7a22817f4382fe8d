"""Keeps the rows of a replica in the files of RocksDB, so that they may be larger than memory."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from rocksdict import BlockBasedOptions, Cache, Options, Rdict, WriteBatch

from brookmere.errors import StateError, StoreNotReadyError
from brookmere.state.backend import META, Writes

_WRITE_BUFFER_BYTES = 16 * 1024 * 1024
_CACHE_BYTES = 64 * 1024 * 1024
# Ten bits per key: one look-up in a hundred goes to a file in vain.
_BLOOM_BITS = 10
_LOG_FILE_BYTES, _LOG_FILES = 1024 * 1024, 2
_FIRST_PAGE, _LARGEST_PAGE = 1, 1024


class Files:
    """Tables in a directory. What was written is there after a crash of the process, whole batches only.

    The files are in a numbered directory inside it; whoever begins anew takes the next number.
    """

    def __init__(self, directory: Path, tables: Sequence[str]) -> None:
        self._directory = directory
        self._names = (META, *tables)
        numbers = _numbers(directory)
        self._number = max(numbers, default=0)
        # A process that was killed while it began anew has left files that nobody needs.
        for number in numbers:
            if number != self._number:
                shutil.rmtree(directory / str(number))
        self._open()

    def _open(self) -> None:
        path = self._directory / str(self._number)
        options = _options()
        try:
            path.mkdir(parents=True, exist_ok=True)
            # RocksDB wants to hear of all tables, also of those that a store of another kind has left.
            found = Rdict.list_cf(str(path)) if (path / "CURRENT").exists() else []
            tables = {*self._names, *found} - {META}
            self._db = Rdict(str(path), options, dict.fromkeys(tables, options))
        except Exception as error:
            raise StateError(
                f"The replica in {self._directory} cannot be opened. Found: {error}. "
                "If another process uses it, give this one a name of its own; "
                "if its files are damaged, delete the directory: it is filled again from the changelog."
            ) from error
        self._tables = {
            name: self._db if name == META else self._db.get_column_family(name) for name in self._names
        }
        self._handles = {name: self._db.get_column_family_handle(name) for name in self._names}

    def get(self, table: str, key: bytes) -> bytes | None:
        found: bytes | None = self._tables[table].get(key)
        return found

    def reader(self, table: str) -> Callable[[bytes], bytes | None]:
        return self._tables[table].get

    def scan(
        self, table: str, lower: bytes = b"", upper: bytes | None = None, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        # A page at a time: an iterator of RocksDB keeps its files open, also those of a replica that is
        # closed, and a reader may be slow or never come back.
        rows: Any = self._tables[table]
        size = _FIRST_PAGE
        while True:
            items = rows.items(backwards=reverse, from_key=upper if reverse else lower)
            if reverse:
                # RocksDB begins at the upper end itself, which does not belong to the rows.
                page = [row for row in islice(items, size + 1) if row[0] != upper][:size]
            else:
                page = list(islice(items, size))
            del items
            for row in page:
                if row[0] < lower if reverse else upper is not None and row[0] >= upper:
                    return
                yield row
            if len(page) < size:
                return
            if reverse:
                upper = page[-1][0]
            else:
                lower = page[-1][0] + b"\x00"
            size = min(4 * size, _LARGEST_PAGE)

    def write(self, writes: Writes) -> None:
        batch = WriteBatch(raw_mode=True)
        for table, changes in writes.items():
            batch.set_default_column_family(self._handles[table])
            put, delete = batch.put, batch.delete
            for key, value in changes.items():
                if value is None:
                    delete(key)
                else:
                    put(key, value)
        self._db.write(batch)

    def clear(self) -> None:
        before = self._directory / str(self._number)
        self.close()
        self._number += 1
        self._open()
        shutil.rmtree(before, ignore_errors=True)

    def entries(self, table: str) -> int:
        return self._tables[table].property_int_value("rocksdb.estimate-num-keys") or 0

    def bytes(self) -> int:
        names = ("rocksdb.total-sst-files-size", "rocksdb.cur-size-all-mem-tables")
        return sum(table.property_int_value(name) or 0 for table in self._tables.values() for name in names)

    def close(self) -> None:
        # The handles of tables keep RocksDB's lock, and with it others out.
        self._handles.clear()
        for name, table in self._tables.items():
            if name != META:
                table.close()
        self._db.close()


def closed(error: Exception) -> StoreNotReadyError | None:
    """Return the error for a question to files that were closed in the meantime, if it is that."""
    if type(error).__name__ != "DbClosedError":
        return None
    return StoreNotReadyError(
        "The replica was closed, or begins anew, while it was asked. Ask again, or one that runs."
    )


def _numbers(directory: Path) -> list[int]:
    if not directory.is_dir():
        return []
    return [int(path.name) for path in directory.iterdir() if path.name.isdigit()]


def _options() -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.create_missing_column_families(True)
    options.set_write_buffer_size(_WRITE_BUFFER_BYTES)
    options.set_max_log_file_size(_LOG_FILE_BYTES)
    options.set_keep_log_file_num(_LOG_FILES)
    table = BlockBasedOptions()
    table.set_block_cache(Cache(_CACHE_BYTES))
    table.set_bloom_filter(_BLOOM_BITS, False)
    options.set_block_based_table_factory(table)
    return options
