"""Records: equality, hash, and the copies with one thing changed."""

from __future__ import annotations

from brookmere.record import Record

RECORD = Record("k", 1, 5, (("a", b"1"),), "topic", 2, 3)


def test_a_copy_differs_in_one_thing() -> None:
    assert RECORD.with_key("l") == Record("l", 1, 5, (("a", b"1"),), "topic", 2, 3)
    assert RECORD.with_value(2) == Record("k", 2, 5, (("a", b"1"),), "topic", 2, 3)
    assert RECORD.with_timestamp(6) == Record("k", 1, 6, (("a", b"1"),), "topic", 2, 3)
    assert RECORD.with_headers([]) == Record("k", 1, 5, (), "topic", 2, 3)


def test_a_header_is_added_behind_the_others() -> None:
    assert RECORD.with_header("a", None).headers == (("a", b"1"), ("a", None))
    assert RECORD.headers == (("a", b"1"),)


def test_equal_records_have_one_hash_and_one_text() -> None:
    other = Record("k", 1, 5, (("a", b"1"),), "topic", 2, 3)

    assert other == RECORD
    assert hash(RECORD) == hash(other)
    assert repr(RECORD) == repr(other)
