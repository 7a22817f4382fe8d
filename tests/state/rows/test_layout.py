"""The order of what a replica's tables are sorted by."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from brookmere.state.rows import layout

BINARY = st.binary(max_size=6) | st.lists(st.sampled_from([b"\x00", b"\xff", b"a"]), max_size=5).map(b"".join)
TIMES = st.integers(-(2**63) + 1, 2**63 - 1)


@given(BINARY, BINARY, BINARY, BINARY)
def test_escaped_keys_sort_like_keys_whatever_follows_them(a: bytes, b: bytes, x: bytes, y: bytes) -> None:
    first, second = layout.escaped(a) + x, layout.escaped(b) + y

    assert (first < second) == ((a, x) < (b, y))


@given(BINARY)
def test_an_escaped_key_comes_back(key: bytes) -> None:
    assert layout.unescaped(layout.escaped(key)) == key


@given(TIMES, TIMES)
def test_times_sort_also_before_1970(a: int, b: int) -> None:
    assert (layout.time(a) < layout.time(b)) == (a < b)
    assert layout.time_of(layout.time(a)) == a


@given(st.integers())
def test_any_number_can_be_asked_for_as_a_time(value: int) -> None:
    assert layout.time_of(layout.time(value)) == max(-layout.LAST_TIME, min(value, layout.LAST_TIME))


@given(BINARY, BINARY)
def test_behind_is_the_first_key_behind_all_with_the_prefix(prefix: bytes, key: bytes) -> None:
    behind = layout.behind(prefix)

    assert behind is None or prefix < behind
    assert key.startswith(prefix) == (key >= prefix and (behind is None or key < behind))


@given(TIMES, BINARY)
def test_an_entry_has_its_time_and_its_value(timestamp: int, value: bytes) -> None:
    entry = layout.entry(timestamp, value)

    assert (layout.timestamp_of(entry), entry[layout.TIME :]) == (timestamp, value)
