"""Locks that let one thread of one process at a time change a topic."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# POSIX record locks exclude processes but not threads, and are lost when the process closes any descriptor
# of the file: so a thread opens the file only while it holds the lock in this table.
_threads: dict[str, threading.Lock] = {}
_threads_guard = threading.Lock()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path`; raise FileNotFoundError if its folder is gone."""
    with _thread_lock(path):
        descriptor = _acquire(path, fcntl.LOCK_EX)
        try:
            yield
        finally:
            os.close(descriptor)


@contextmanager
def locked_if_free(path: Path) -> Iterator[bool]:
    """Hold the lock file `path` if nobody else does; yield whether it is held."""
    thread_lock = _thread_lock(path)
    if not thread_lock.acquire(blocking=False):
        yield False
        return
    try:
        try:
            descriptor = _acquire(path, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        try:
            yield True
        finally:
            os.close(descriptor)
    finally:
        thread_lock.release()


def _acquire(path: Path, operation: int) -> int:
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            fcntl.lockf(descriptor, operation)
            # A topic deleted during the wait leaves a lock on a file without a name.
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _thread_lock(path: Path) -> threading.Lock:
    name = os.path.realpath(path)
    with _threads_guard:
        return _threads.setdefault(name, threading.Lock())


def _start_anew() -> None:
    # A forked process inherits locks held by its parent's threads, but not the threads.
    global _threads_guard
    _threads_guard = threading.Lock()
    _threads.clear()


os.register_at_fork(after_in_child=_start_anew)
