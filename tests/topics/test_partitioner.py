"""The partitions of many keys at once are those of each key alone."""

from __future__ import annotations

from itertools import chain

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from brookmere.errors import TopicError
from brookmere.serde import partition_for
from brookmere.topics import partitioner
from brookmere.topics.log.segment import CONTENT_SCHEMA
from brookmere.topics.routing import Router

KEYS = st.lists(st.none() | st.binary(max_size=23), max_size=40)


@given(KEYS, st.integers(1, 50))
def test_each_key_gets_the_partition_that_kafka_gives_it(keys: list[bytes | None], partitions: int) -> None:
    # The column way is taken for many keys only.
    column = pa.array(keys * 300, pa.binary())

    found = partitioner.partitions_of(column, partitions).to_pylist()

    assert found == [None if key is None else partition_for(key, partitions) for key in keys] * 300


def test_a_slice_of_keys_is_hashed_from_where_it_begins() -> None:
    keys = [b"%09d" % number for number in range(2000)]

    found = partitioner.partitions_of(pa.array(keys, pa.binary()).slice(777), 13).to_pylist()

    assert found == [partition_for(key, 13) for key in keys[777:]]


def content(keys: list[bytes | None]) -> pa.RecordBatch:
    rows = [{"timestamp": place, "key": key, "value": b"v"} for place, key in enumerate(keys)]
    return pa.RecordBatch.from_pylist(rows, schema=CONTENT_SCHEMA)


@given(KEYS, st.integers(1, 7))
def test_parts_hold_every_record_once_in_its_order(keys: list[bytes | None], partitions: int) -> None:
    parts = dict(Router("t", partitions).parts(content(keys)))

    times = {number: part.column("timestamp").cast(pa.int64()).to_pylist() for number, part in parts.items()}
    assert sorted(chain.from_iterable(times.values())) == list(range(len(keys)))
    assert all(each == sorted(each) for each in times.values())
    for number, places in times.items():
        assert all(keys[p] is None or partition_for(keys[p] or b"", partitions) == number for p in places)


def test_records_without_a_key_go_to_the_partitions_in_turn_across_appends() -> None:
    router = Router("t", 3)

    first = {number: part.num_rows for number, part in router.parts(content([None] * 4))}
    second = {number: part.num_rows for number, part in router.parts(content([None] * 2))}

    assert first == {0: 2, 1: 1, 2: 1}
    assert second == {1: 1, 2: 1}


def test_a_named_partition_wins_over_the_key() -> None:
    parts = list(Router("t", 3).parts(content([b"a", b"a", None]), [2, None, 0]))

    assert sum(part.num_rows for number, part in parts if number == 2) >= 1
    assert dict(parts)[0].num_rows >= 1


@pytest.mark.parametrize("wrong", [-1, 3])
def test_a_partition_that_is_not_there_is_refused(wrong: int) -> None:
    with pytest.raises(TopicError, match=f"no partition {wrong}: it has 3"):
        list(Router("t", 3).parts(content([b"a"]), [wrong]))
