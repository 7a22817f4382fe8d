"""Serdes that a program leaves open, wholly or inside a window, are settled by the type of the values."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pyspark.sql.types import DataType, DateType, LongType, StringType, StructType

from brookmere.run.wire.fit import settled
from brookmere.serde import Json, Long, Serde, Text, Windowed
from brookmere.serde.default import Natural

MINUTE = timedelta(minutes=1)


def windowed(key: DataType) -> StructType:
    return StructType().add("key", key).add("start", LongType()).add("end", LongType())


@pytest.mark.parametrize(
    ("given", "data_type", "expected"),
    [
        (None, StringType(), Text()),
        (Text(), LongType(), Text()),
        (Windowed(Natural(), size=MINUTE), windowed(LongType()), Windowed(Long(), size=MINUTE)),
        (Windowed(Natural(), session=True), windowed(StringType()), Windowed(Text(), session=True)),
        (Windowed(Windowed(Natural())), windowed(windowed(LongType())), Windowed(Windowed(Long()))),
        (
            Windowed(Natural()),
            windowed(StructType().add("x", LongType())),
            Windowed(Json("struct<x:bigint>")),
        ),
        (Windowed(Text()), windowed(LongType()), Windowed(Text())),
        (Windowed(Text()), StringType(), Windowed(Text())),
    ],
)
def test_open_serdes_are_settled_by_the_type(
    given: Serde | None, data_type: DataType, expected: Serde
) -> None:
    assert settled(given, data_type) == expected


@pytest.mark.parametrize(
    ("given", "data_type"),
    [(None, DateType()), (Windowed(Natural()), windowed(DateType())), (Windowed(Natural()), StringType())],
)
def test_type_without_a_serde_leaves_nothing_to_write_it(given: Serde | None, data_type: DataType) -> None:
    assert settled(given, data_type) is None
