"""Rows of a replica in RocksDB, so that they may be larger than memory."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from rocksdict import BlockBasedOptions, Cache, Options, Rdict, WriteBatch

from brookmere.errors import InstanceError, StateError, StoreNotReadyError
from brookmere.state.rows.backend import META, Writes

_WRITE_BUFFER_BYTES = 16 * 1024 * 1024
_CACHE_BYTES = 64 * 1024 * 1024
# Up to this number rows are counted exactly.
_COUNTED = 10_000
# Ten bits per key: one look-up in a hundred reads a file in vain.
_BLOOM_BITS = 10
# A bloom filter over the write buffer, because searching it takes longer than searching a file.
_BUFFER_BLOOM = 0.1
_LOG_FILE_BYTES, _LOG_FILES = 1024 * 1024, 2
_FIRST_PAGE, _LARGEST_PAGE = 1, 1024
_PATIENCE_SECONDS, _PAUSE_SECONDS = 30.0, 0.001


class Files:
    """Tables in a directory. Written batches survive a crash of the process, whole or not at all."""

    def __init__(self, directory: Path, tables: Sequence[str]) -> None:
        self._directory = directory
        self._names = (META, *tables)
        self._open()

    def _open(self) -> None:
        self._directory.mkdir(parents=True, exist_ok=True)
        options = _options()
        try:
            # RocksDB must open all tables, including those left by a store of another kind.
            found = Rdict.list_cf(str(self._directory)) if (self._directory / "CURRENT").exists() else []
            tables = {*self._names, *found} - {META}
            self._db = Rdict(str(self._directory), options, dict.fromkeys(tables, options))
        except Exception as error:
            if "lock" in str(error).casefold():
                raise InstanceError(
                    f"The replica in {self._directory} is in use, by another process or in this one. "
                    "Give this replica another name or directory, or stop the other one."
                ) from error
            raise StateError(
                f"The replica in {self._directory} cannot be opened. Found: {error}. "
                "Delete the directory: it is rebuilt from the changelog."
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
        # A page at a time: a RocksDB iterator keeps its files open even after the replica is closed, and a
        # reader may be slow or never come back.
        size = _FIRST_PAGE
        while True:
            page = self._page(table, upper if reverse else lower, size, reverse)
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

    def _page(self, table: str, at: bytes | None, size: int, reverse: bool) -> list[tuple[bytes, bytes]]:
        items: Any = self._tables[table].items(backwards=reverse, from_key=at)
        if not reverse:
            return list(islice(items, size))
        # RocksDB starts at the upper bound itself, which is excluded.
        return [row for row in islice(items, size + 1) if row[0] != at][:size]

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
        # The files stay open: another thread may be reading them.
        batch = WriteBatch(raw_mode=True)
        for name in self._names:
            last: Any = next(self._tables[name].keys(backwards=True), None)
            if last is not None:
                batch.delete_range(b"", last + b"\x00", self._handles[name])
        self._db.write(batch)

    def entries(self, table: str) -> int:
        estimate = self._tables[table].property_int_value("rocksdb.estimate-num-keys") or 0
        if estimate > _COUNTED:
            return estimate
        # RocksDB estimates from writes and deletes, which is far off for few rows.
        counted = sum(1 for _ in islice(self._tables[table].keys(), _COUNTED))
        return counted if counted < _COUNTED else max(counted, estimate)

    def bytes(self) -> int:
        names = ("rocksdb.total-sst-files-size", "rocksdb.cur-size-all-mem-tables")
        return sum(table.property_int_value(name) or 0 for table in self._tables.values() for name in names)

    def close(self) -> None:
        # A handle also keeps the files open, however often the tables are closed.
        self._handles.clear()
        for name, table in self._tables.items():
            if name != META:
                _let_go(table)
        _let_go(self._db)


def closed(error: Exception) -> StoreNotReadyError | None:
    """Return the error for reading files that were closed in the meantime, if that is the cause."""
    # rocksdict raises the second one while another thread closes.
    if type(error).__name__ != "DbClosedError" and "mutably borrowed" not in str(error):
        return None
    return StoreNotReadyError("The replica is closed and can no longer be queried. Query a running one.")


def _let_go(table: Rdict) -> None:
    """Close a table once no thread is reading it; no new reads start."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return table.close()
        except RuntimeError as error:
            if "borrowed" not in str(error) or time.monotonic() > deadline:
                raise
        time.sleep(_PAUSE_SECONDS)


def _options() -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(True)
    options.create_missing_column_families(True)
    options.set_write_buffer_size(_WRITE_BUFFER_BYTES)
    options.set_memtable_whole_key_filtering(True)
    options.set_memtable_prefix_bloom_ratio(_BUFFER_BLOOM)
    options.set_max_log_file_size(_LOG_FILE_BYTES)
    options.set_keep_log_file_num(_LOG_FILES)
    table = BlockBasedOptions()
    table.set_block_cache(Cache(_CACHE_BYTES))
    table.set_bloom_filter(_BLOOM_BITS, False)
    options.set_block_based_table_factory(table)
    return options
