"""Turns keys, times and partitions into the sorted keys of a replica's tables, and back."""

from __future__ import annotations

NUMBER = 2
TIME = 8
_END = b"\x00\x00"
LAST_TIME = 2**63 - 1


def escaped(key: bytes) -> bytes:
    """Return a key so that others can follow it: rows still sort by key first, and no key begins another.

    >>> escaped(b"a") < escaped(b"a\\x00") < escaped(b"ab")
    True
    """
    return key.replace(b"\x00", b"\x00\xff") + _END


def unescaped(key: bytes) -> bytes:
    """Return the key that `escaped` was given."""
    return key[: -len(_END)].replace(b"\x00\xff", b"\x00")


def number(value: int) -> bytes:
    """Return a partition's number in two bytes."""
    return value.to_bytes(NUMBER, "big")


def time(value: int) -> bytes:
    """Return a time in eight bytes that sort like it."""
    # The sign comes first, so that times before 1970 sort before the others.
    return (max(-LAST_TIME, min(value, LAST_TIME)) + 2**63).to_bytes(TIME, "big")


def time_of(data: bytes) -> int:
    """Return the time that `time` was given."""
    return int.from_bytes(data, "big") - 2**63


def behind(prefix: bytes) -> bytes | None:
    """Return the first key that is behind all keys with a prefix; None if there is none.

    >>> behind(b"a\\xff")
    b'b'
    """
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else None


def entry(timestamp: int, value: bytes) -> bytes:
    """Return what stands in a row: its time and its value."""
    return timestamp.to_bytes(TIME, "big", signed=True) + value


def timestamp_of(data: bytes) -> int:
    """Return the time of a row."""
    return int.from_bytes(data[:TIME], "big", signed=True)
