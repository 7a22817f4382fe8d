"""Checks which serde a sink gets when the program names none."""

from __future__ import annotations

import pytest

from brookmere.serde import Bool, Bytes, Double, Int, Json, Long, Serde, Text, default_serde_for


@pytest.mark.parametrize(
    ("type_name", "serde"),
    [
        ("string", Text()),
        ("binary", Bytes()),
        ("int", Int()),
        ("bigint", Long()),
        ("double", Double()),
        ("boolean", Bool()),
        ("struct<a:int,b:string>", Json("struct<a:int,b:string>")),
        ("array<int>", Json("array<int>")),
        ("map<string,int>", Json("map<string,int>")),
    ],
)
def test_a_spark_type_has_its_natural_serde(type_name: str, serde: Serde) -> None:
    assert default_serde_for(type_name) == serde


@pytest.mark.parametrize("type_name", ["decimal(10,2)", "timestamp", "float", "structural"])
def test_other_types_have_none(type_name: str) -> None:
    assert default_serde_for(type_name) is None
