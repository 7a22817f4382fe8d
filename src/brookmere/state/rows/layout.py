"""The sort order of a replica's tables: keys, times and partitions as sortable bytes."""

from __future__ import annotations

NUMBER = 2
TIME = 8
_END = b"\x00\x00"
LAST_TIME = 2**63 - 1


def escaped(key: bytes) -> bytes:
    """Return a key to which more can be appended: rows sort by key first, and no key is a prefix of another.

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
    """Return a time as eight bytes in sort order."""
    # Flip the sign so that times before 1970 sort first.
    return (max(-LAST_TIME, min(value, LAST_TIME)) + 2**63).to_bytes(TIME, "big")


def time_of(data: bytes) -> int:
    """Return the time that `time` was given."""
    return int.from_bytes(data, "big") - 2**63


def behind(prefix: bytes) -> bytes | None:
    """Return the first key after all keys with a prefix; None if there is none.

    >>> behind(b"a\\xff")
    b'b'
    """
    stem = prefix.rstrip(b"\xff")
    return stem[:-1] + bytes([stem[-1] + 1]) if stem else None


def entry(timestamp: int, value: bytes) -> bytes:
    """Return the bytes of a row: its time and its value."""
    return timestamp.to_bytes(TIME, "big", signed=True) + value


def timestamp_of(data: bytes) -> int:
    """Return the time of a row."""
    return int.from_bytes(data[:TIME], "big", signed=True)
