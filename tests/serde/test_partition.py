"""Checks the partition of a key against the rule of Kafka's own clients."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brookmere.serde import Text, murmur2, partition_for


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_murmur2_gives_the_numbers_that_kafka_tests_its_own_hash_with(data: bytes, expected: int) -> None:
    assert murmur2(data) == expected


@given(st.binary(max_size=40))
def test_murmur2_fits_a_signed_int(data: bytes) -> None:
    assert -(2**31) <= murmur2(data) < 2**31


@given(st.text(max_size=20), st.integers(1, 100))
def test_a_key_belongs_to_one_of_the_partitions(key: str, partitions: int) -> None:
    data = Text().serialize(key)

    assert data is not None
    assert 0 <= partition_for(data, partitions) < partitions


def test_a_negative_hash_loses_its_sign_bit_not_its_sign() -> None:
    # The hash of "21" is negative; Kafka masks its highest bit, which is not the absolute value.
    assert partition_for(b"21", 1000) == (2**31 - 973932308) % 1000


def test_a_topic_without_partitions_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one partition, found 0"):
        partition_for(b"a", 0)
