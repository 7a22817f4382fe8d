"""A sink refuses, before the start, a serde that cannot write what reaches it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from pyspark.sql import Column
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from tests.run.programs import fault_of, sales

pytestmark = pytest.mark.usefixtures("spark")


def window(key: Any, **parts: Any) -> Column:
    members = {"key": F.lit(key), "start": F.lit(0).cast("bigint"), "end": F.lit(5).cast("bigint"), **parts}
    return F.struct(*[member.alias(name) for name, member in members.items()])


MISFITS: dict[str, tuple[Callable[[Column], Column], bm.Serde, str, str]] = {
    "long_as_text": (
        lambda v: v.n.cast("bigint"),
        bm.Text(),
        "bigint, which Text does not",
        "Cast it to string",
    ),
    "struct_as_text": (
        lambda v: F.struct(v.item, v.n),
        bm.Text(),
        "struct<item:string,n:int>, which Text does not write",
        "make it text with F.to_json",
    ),
    "array_as_text": (
        lambda v: v.tags,
        bm.Text(),
        "array<string>, which Text does not write",
        "make it text with F.to_json",
    ),
    "map_as_text": (
        lambda v: F.create_map(v.item, v.n),
        bm.Text(),
        "map<string,int>, which Text does not write",
        "make it text with F.to_json",
    ),
    "window_as_text": (
        lambda v: window("k"),
        bm.Text(),
        "struct<key:string,start:bigint,end:bigint>, which Text does not write",
        "make it text with F.to_json",
    ),
    "int_as_long": (lambda v: v.n, bm.Long(), "int, which Long does not write", "Cast it to bigint"),
    "long_as_int": (lambda v: v.n.cast("bigint"), bm.Int(), "bigint, which Int does not", "Cast it to int"),
    "decimal_as_double": (lambda v: v.price, bm.Double(), "which Double does not write", "Cast it to double"),
    "text_as_bool": (lambda v: v.item, bm.Bool(), "string, which Bool does not", "Cast it to boolean"),
    "text_as_bytes": (lambda v: v.item, bm.Bytes(), "string, which Bytes does not", "Cast it to binary"),
    "text_as_json": (lambda v: v.item, bm.Json("a int"), "string, which Json does not", "Make it a struct"),
    "array_as_object": (
        lambda v: v.tags,
        bm.Json("a int"),
        "array<string>, where the schema of Json says struct<a:int>",
        "correct the schema",
    ),
    "unknown_field": (
        lambda v: F.struct(v.item, v.amount.alias("amout")),
        bm.Json("item string, amount double"),
        "the field 'amout', which the schema of Json does not name",
        "Did you mean 'amount'?",
    ),
    "unknown_inner_field": (
        lambda v: F.struct(F.struct(v.n.alias("zz")).alias("o")),
        bm.Json("o struct<a: int>"),
        "the field 'o.zz'",
        "Add it to the schema, or leave it out",
    ),
    "number_where_text_is_said": (
        lambda v: F.struct(v.n.alias("item")),
        bm.Json("item string"),
        "int in item, where the schema of Json says string",
        "Cast it",
    ),
    "element_of_another_type": (
        lambda v: F.struct(v.tags),
        bm.Json("tags array<int>"),
        "string in tags[], where the schema of Json says int",
        "Cast it",
    ),
    "text_as_window": (
        lambda v: v.item,
        bm.Windowed(bm.Text()),
        "string, which Windowed",
        "key, start and end",
    ),
    "part_of_a_window": (
        lambda v: F.struct(v.item.alias("key"), F.lit(1).alias("start")),
        bm.Windowed(bm.Text(), form="json"),
        "which Windowed does not write",
        "key, start and end",
    ),
    "window_of_ints": (
        lambda v: window("k", start=F.lit(0)),
        bm.Windowed(bm.Text()),
        "which Windowed does not write",
        "Cast start to bigint",
    ),
    "inner_key": (
        lambda v: window("k"),
        bm.Windowed(bm.Long()),
        "has a key that has the type string, which Long does not write",
        "Cast it to bigint",
    ),
}


@pytest.mark.parametrize("case", MISFITS)
def test_serde_that_does_not_fit_is_refused(case: str) -> None:
    function, serde, what, remedy = MISFITS[case]

    fault = fault_of(lambda stream: stream.map_values(function).to("out", value=serde, name="sink"))

    assert fault.what.startswith("The value written by sink ha")
    assert what in fault.what
    assert remedy in fault.remedy
    assert __file__ in (fault.where or "")


def test_key_that_does_not_fit_is_refused() -> None:
    fault = fault_of(lambda stream: stream.select_key(lambda v: v.n).to("out", key=bm.Long(), name="sink"))

    assert fault.what == "The key written by sink has the type int, which Long does not write"


@pytest.mark.parametrize(
    ("type_name", "function"),
    [
        ("float", lambda v: v.amount.cast("float")),
        ("decimal(10,2)", lambda v: v.price),
        ("timestamp", lambda v: v.at),
        ("date", lambda v: v.at.cast("date")),
        ("void", lambda v: None),
        ("interval day to second", lambda v: v.at - v.at),
    ],
)
def test_type_without_a_serde_is_refused(type_name: str, function: Callable[..., Any]) -> None:
    fault = fault_of(lambda stream: stream.map_values(function).to("out"))

    assert fault.what.endswith(f"has the type {type_name}, for which there is no serde")
    assert fault.remedy == "Name one with value=, or cast it to a type that has one"


DEFAULTS: dict[str, tuple[Callable[[Column], Any], Any]] = {
    "text": (lambda v: v.item, "tea"),
    "collated_text": (lambda v: F.collate(v.item, "UTF8_LCASE"), "tea"),
    "binary": (lambda v: v.item.cast("binary"), b"tea"),
    "int": (lambda v: v.n, 2),
    "long": (lambda v: 3, 3),
    "double": (lambda v: v.amount, 1.5),
    "boolean": (lambda v: v.n > 1, True),
    "struct": (lambda v: {"item": v.item, "odd name$": v.n}, {"item": "tea", "odd name$": 2}),
    "array": (lambda v: v.tags, ["x"]),
    "map": (lambda v: F.create_map(v.item, v.n), {"tea": 2}),
    "struct_of_many_fields": (lambda v: {f"f{i}": i for i in range(60)}, {f"f{i}": i for i in range(60)}),
}


@pytest.mark.parametrize("kind", DEFAULTS)
def test_type_chooses_the_serde_where_none_is_named(kind: str) -> None:
    function, expected = DEFAULTS[kind]
    app, stream = sales()
    stream.map_values(function).to("out")

    with TopologyTestDriver(app) as driver:
        driver.input_topic("sales").pipe_input({"item": "tea", "n": 2, "amount": 1.5, "tags": ["x"]})

        assert driver.output_topic("out").read_value() == expected


@pytest.mark.parametrize(
    ("function", "serde"),
    [
        (lambda v: F.struct(v.n.alias("a")), bm.Json("a bigint, b string")),
        (lambda v: F.struct(v.amount.alias("a")), bm.Json("a decimal(10,2)")),
        (lambda v: F.create_map(v.item, v.n), bm.Json("tea int")),
        (lambda v: F.struct(F.lit(None).alias("a")), bm.Json("a array<int>")),
        (lambda v: F.parse_json(F.lit('{"a":1}')), bm.Json("a int")),
        (lambda v: window("k"), bm.Windowed(bm.Text(), size=timedelta(milliseconds=5))),
    ],
    ids=["wider_number", "decimal", "map_as_object", "null", "variant", "window"],
)
def test_json_fits_where_the_reader_understands_it(
    function: Callable[[Column], Column], serde: bm.Serde
) -> None:
    app, stream = sales()
    stream.map_values(function).to("out", value=serde)

    with TopologyTestDriver(app) as driver:
        driver.input_topic("sales").pipe_input({"item": "tea", "n": 2, "amount": 1.5})

        assert driver.output_topic("out").queue_size() == 1


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        ("a bigin", 'Unsupported data type "BIGIN"'),
        ("a bigint b string", "Syntax error at or near 'b'"),
        ("bigint", "must be a struct"),
    ],
)
def test_wrong_schema_is_refused_at_its_source(schema: str, what: str) -> None:
    app = bm.StreamsBuilder("shop", key=bm.Text(), value=bm.Json(schema))
    app.stream("in").to("out")

    with pytest.raises(bm.errors.ExpressionError) as caught:
        TopologyTestDriver(app)

    assert what in caught.value.faults[0].what
    assert "KSTREAM-SOURCE-0000000000" in caught.value.faults[0].what


def test_failing_function_of_a_custom_serde_is_refused_at_its_line() -> None:
    serde = bm.Custom(decode=lambda raw: raw.nothing(), encode=lambda value: 1 // 0, name="mine")
    app = bm.StreamsBuilder("shop", key=bm.Text(), value=bm.Text())
    app.stream("in", value=serde).to("a")
    app.stream("other").to("b", value=serde)

    with pytest.raises(bm.errors.ExpressionError) as caught:
        TopologyTestDriver(app)

    decode, encode = caught.value.faults
    assert decode.what.startswith("The decode of the serde 'mine' failed with TypeError")
    assert encode.what.startswith("The encode of the serde 'mine' failed with ZeroDivisionError")
    assert (decode.where or "").startswith(f"{__file__}:")
