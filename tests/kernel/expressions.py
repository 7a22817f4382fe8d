"""Row-wise expressions of every family of pyspark.sql.functions, and rows to try them on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

SCHEMA = (
    "i int, l bigint, d double, f float, m decimal(10,2), s string, b boolean, day date, at timestamp, "
    "local timestamp_ntz, raw binary, small smallint, xs array<int>, words array<string>, "
    "tags map<string,int>, inner struct<a: int, name: string, deep: struct<z: double>>, "
    "items array<struct<id: int, price: double>>, doc string"
)

FULL: dict[str, Any] = {
    "i": 7,
    "l": 9_000_000_000,
    "d": 2.5,
    "f": 0.25,
    "m": 12.34,
    "s": "Brook mere, Straße 7",
    "b": True,
    "day": "2024-02-29",
    "at": "2024-02-29T12:34:56.789Z",
    "local": "2024-02-29T12:34:56",
    "raw": "3q2+7w==",
    "small": -3,
    "xs": [3, 1, None, 2],
    "words": ["b", "a", None, "B"],
    "tags": {"x": 1, "y": None},
    "inner": {"a": 1, "name": "n", "deep": {"z": 0.5}},
    "items": [{"id": 2, "price": 9.5}, None, {"id": 1, "price": None}],
    "doc": '{"p": [1, 2], "q": {"r": "t"}}',
}

EDGES: dict[str, Any] = {
    **FULL,
    "i": -2147483648,
    "l": -1,
    "d": -0.0,
    "m": -99999999.99,
    "s": "",
    "b": False,
    "day": "1582-10-15",
    "at": "1969-12-31T23:59:59.999Z",
    "raw": "",
    "xs": [],
    "words": [""],
    "tags": {},
    "inner": {"a": None, "name": None, "deep": None},
    "items": [],
    "doc": "no document",
}

ROWS: list[dict[str, Any] | None] = [FULL, EDGES, dict.fromkeys(FULL), None]

Expression = Callable[[Column], Column]

NUMBERS: dict[str, Expression] = {
    "addition": lambda v: v.i.cast("bigint") + v.l,
    "subtraction": lambda v: v.l - v.small,
    "product_of_int_and_double": lambda v: v.small * v.d,
    "division": lambda v: v.i / F.lit(4),
    "remainder": lambda v: v.i % 4,
    "negation": lambda v: -v.l,
    "pmod": lambda v: F.pmod(v.i, F.lit(5)),
    "decimal_sum": lambda v: v.m + v.m,
    "decimal_product": lambda v: v.m * F.lit(2).cast("decimal(5,1)"),
    "decimal_quotient": lambda v: v.m / F.lit(3).cast("decimal(5,0)"),
    "round": lambda v: F.round(v.d, 1),
    "bround_of_decimal": lambda v: F.bround(v.m, 1),
    "floor": lambda v: F.floor(v.m),
    "ceil": lambda v: F.ceil(v.d),
    "abs": lambda v: F.abs(v.small),
    "signum": lambda v: F.signum(v.d),
    "sqrt": lambda v: F.sqrt(F.abs(v.d)),
    "power": lambda v: F.pow(v.d, 2),
    "logarithm": lambda v: F.log1p(F.abs(v.d)),
    "sine": lambda v: F.sin(v.d),
    "bits": lambda v: v.i.bitwiseAND(12).bitwiseXOR(5),
    "shift": lambda v: F.shiftleft(v.small, 3),
    "bit_count": lambda v: F.bit_count(v.l),
    "hexadecimal": lambda v: F.hex(v.l),
    "conversion": lambda v: F.conv(F.lit("ff"), 16, 10),
    "least": lambda v: F.least(v.i, v.small, F.lit(0)),
    "greatest": lambda v: F.greatest(v.d, F.lit(1.0)),
    "width_bucket": lambda v: F.width_bucket(v.d, F.lit(0.0), F.lit(10.0), F.lit(4)),
    "try_add": lambda v: F.try_add(v.i, F.lit(-1)),
    "try_divide": lambda v: F.try_divide(v.i, v.i - v.i),
    "try_multiply": lambda v: F.try_multiply(v.i, F.lit(2)),
    "try_subtract": lambda v: F.try_subtract(v.l, F.lit(1)),
    "is_not_a_number": lambda v: F.isnan(v.d),
    "nanvl": lambda v: F.nanvl(F.lit(float("nan")), v.d),
}

TEXT: dict[str, Expression] = {
    "upper": lambda v: F.upper(v.s),
    "initcap": lambda v: F.initcap(v.s),
    "concatenation": lambda v: F.concat(v.s, F.lit("/"), v.inner["name"]),
    "concat_ws": lambda v: F.concat_ws("-", v.words, v.s),
    "length": lambda v: F.length(v.s),
    "octet_length": lambda v: F.octet_length(v.s),
    "substring": lambda v: v.s.substr(2, 4),
    "substring_from_the_end": lambda v: F.substring(v.s, -3, 2),
    "split": lambda v: F.split(v.s, "[ ,]+"),
    "split_part": lambda v: F.split_part(v.s, F.lit(" "), F.lit(2)),
    "regexp_extract": lambda v: F.regexp_extract(v.s, r"(\w+) (\w+)", 2),
    "regexp_extract_all": lambda v: F.regexp_extract_all(v.s, F.lit(r"(\w)r"), 1),
    "regexp_replace": lambda v: F.regexp_replace(v.s, r"\s+", "_"),
    "regexp_count": lambda v: F.regexp_count(v.s, F.lit("r")),
    "rlike": lambda v: v.s.rlike("^B"),
    "like": lambda v: v.s.like("%mere%"),
    "ilike": lambda v: v.s.ilike("brook%"),
    "startswith": lambda v: v.s.startswith("Bro"),
    "contains": lambda v: v.s.contains("mere"),
    "trim": lambda v: F.trim(F.concat(F.lit("  "), v.s)),
    "lpad": lambda v: F.lpad(v.s, 30, "*"),
    "translate": lambda v: F.translate(v.s, "or", "01"),
    "reverse": lambda v: F.reverse(v.s),
    "repeat": lambda v: F.repeat(v.s, 2),
    "instr": lambda v: F.instr(v.s, "mere"),
    "levenshtein": lambda v: F.levenshtein(v.s, F.lit("Brook")),
    "soundex": lambda v: F.soundex(v.s),
    "format_number": lambda v: F.format_number(v.d, 3),
    "format_string": lambda v: F.format_string("%d of %s", v.i, v.s),
    "base64": lambda v: F.base64(v.raw),
    "unhex": lambda v: F.unhex(F.lit("CAFE")),
    "encode": lambda v: F.encode(v.s, "UTF-16BE"),
    "url": lambda v: F.parse_url(F.lit("http://a.b/c?d=e"), F.lit("QUERY"), F.lit("d")),
    "collation": lambda v: F.collate(v.s, "UTF8_LCASE") == F.lit("BROOK MERE, STRASSE 7"),
    "mask": lambda v: F.mask(v.s),
    "sentences": lambda v: F.sentences(v.s),
    "md5": lambda v: F.md5(v.raw),
    "sha2": lambda v: F.sha2(v.s, 256),
    "crc32": lambda v: F.crc32(v.raw),
    "xxhash64": lambda v: F.xxhash64(v.i, v.s, v.d),
    "murmur_hash": lambda v: F.hash(v.xs, v.inner),
}

TIMES: dict[str, Expression] = {
    "year": lambda v: F.year(v.day),
    "day_of_week": lambda v: F.dayofweek(v.day),
    "week_of_year": lambda v: F.weekofyear(v.day),
    "date_add": lambda v: F.date_add(v.day, 1),
    "date_diff": lambda v: F.datediff(v.day, F.lit("2024-01-01").cast("date")),
    "add_months": lambda v: F.add_months(v.day, 12),
    "months_between": lambda v: F.months_between(v.at, v.day),
    "last_day": lambda v: F.last_day(v.day),
    "next_day": lambda v: F.next_day(v.day, "Mon"),
    "date_trunc": lambda v: F.date_trunc("hour", v.at),
    "trunc": lambda v: F.trunc(v.day, "quarter"),
    "date_format": lambda v: F.date_format(v.at, "yyyy/MM/dd HH:mm:ss.SSS"),
    "to_timestamp": lambda v: F.to_timestamp(F.lit("05.06.2024"), "dd.MM.yyyy"),
    "to_date_of_format": lambda v: F.to_date(F.date_format(v.day, "ddMMyyyy"), "ddMMyyyy"),
    "unix_timestamp_of_a_value": lambda v: F.unix_timestamp(v.at),
    "unix_millis": lambda v: F.unix_millis(v.at),
    "timestamp_millis": lambda v: F.timestamp_millis(v.l),
    "from_unixtime": lambda v: F.from_unixtime(v.l),
    "make_date": lambda v: F.make_date(F.lit(2024), F.lit(2), F.abs(v.small)),
    "zone_shift": lambda v: F.from_utc_timestamp(v.at, "America/New_York"),
    "interval_by_cast": lambda v: (
        v.at + F.lit("INTERVAL '1 02:03:04' DAY TO SECOND").cast("interval day to second")
    ),
    "interval_of_months": lambda v: v.day + F.make_ym_interval(F.lit(1), F.lit(2)),
    "interval_result": lambda v: v.at - F.lit("2024-01-01").cast("timestamp"),
    "interval_in_expr": lambda v: v.at + F.expr("INTERVAL 90 MINUTES"),
    "timestamp_ntz_part": lambda v: F.hour(v.local),
    "timestamp_diff": lambda v: F.timestamp_diff("HOUR", v.local, v.local + F.expr("INTERVAL 1 DAY")),
    "extract": lambda v: F.extract(F.lit("MINUTE"), v.at),
    "date_to_timestamp": lambda v: v.day.cast("timestamp"),
    "try_to_timestamp": lambda v: F.try_to_timestamp(v.s),
}

NESTED: dict[str, Expression] = {
    "nested_field": lambda v: v.inner.deep.z,
    "struct_of_fields": lambda v: F.struct(
        v.i, v.inner["name"].alias("n"), F.struct(v.s.alias("t")).alias("u")
    ),
    "whole_struct": lambda v: v.inner,
    "with_field": lambda v: v.inner.withField("a", v.i).withField("deep.y", F.lit(1)),
    "drop_fields": lambda v: v.inner.dropFields("a", "deep").withField("k", F.lit("k")),
    "array_element": lambda v: F.get(v.xs, 1),
    "try_element_at": lambda v: F.try_element_at(v.xs, F.lit(-1)),
    "field_of_every_struct": lambda v: v.items.price,
    "map_element": lambda v: v.tags["x"],
    "array_size": lambda v: F.size(v.xs),
    "array_contains": lambda v: F.array_contains(v.words, "a"),
    "array_position": lambda v: F.array_position(v.words, "a"),
    "array_sort": lambda v: F.array_sort(v.xs),
    "sort_array_down": lambda v: F.sort_array(v.xs, asc=False),
    "array_distinct": lambda v: F.array_distinct(F.concat(v.xs, v.xs)),
    "array_union": lambda v: F.array_union(v.xs, F.array(F.lit(9))),
    "array_except": lambda v: F.array_except(v.xs, F.array(F.lit(1))),
    "arrays_overlap": lambda v: F.arrays_overlap(v.xs, F.array(F.lit(1))),
    "arrays_zip": lambda v: F.arrays_zip(v.xs, v.words),
    "array_join": lambda v: F.array_join(v.words, "+", "?"),
    "array_append": lambda v: F.array_append(v.xs, v.i),
    "array_insert": lambda v: F.array_insert(v.xs, 2, F.lit(0)),
    "array_remove": lambda v: F.array_remove(v.xs, 1),
    "array_compact": lambda v: F.array_compact(v.xs),
    "array_repeat": lambda v: F.array_repeat(v.s, 2),
    "array_minimum": lambda v: F.array_min(v.xs),
    "flatten": lambda v: F.flatten(F.array(v.xs, v.xs)),
    "slice": lambda v: F.slice(v.xs, 1, 2),
    "sequence": lambda v: F.sequence(F.lit(1), F.abs(v.small)),
    "map_of_pairs": lambda v: F.create_map(F.lit("i"), v.i, F.lit("j"), F.lit(1)),
    "map_from_arrays": lambda v: F.map_from_arrays(F.array(F.lit("p"), F.lit("q")), F.array(v.i, v.i)),
    "map_from_entries": lambda v: F.map_from_entries(F.array(F.struct(F.lit("k"), v.i))),
    "map_keys": lambda v: F.map_keys(v.tags),
    "map_values": lambda v: F.map_values(v.tags),
    "map_entries": lambda v: F.map_entries(v.tags),
    "map_concat": lambda v: F.map_concat(v.tags, F.create_map(F.lit("new"), F.lit(1))),
    "map_contains_key": lambda v: F.map_contains_key(v.tags, "x"),
    "str_to_map": lambda v: F.str_to_map(F.lit("a:1,b:2"), F.lit(","), F.lit(":")),
    "named_struct": lambda v: F.named_struct(F.lit("x"), v.d, F.lit("y"), v.words),
}


def _descending(left: Column, right: Column) -> Column:
    return F.when(left > right, -1).when(left < right, 1).otherwise(0)


HIGHER_ORDER: dict[str, Expression] = {
    "transform": lambda v: F.transform(v.xs, lambda x: x * 2 + v.i),
    "transform_with_index": lambda v: F.transform(v.xs, lambda x, n: F.coalesce(x, n)),
    "filter": lambda v: F.filter(v.items, lambda item: item.price > 1),
    "exists": lambda v: F.exists(v.xs, lambda x: x == 2),
    "forall": lambda v: F.forall(v.words, lambda w: F.length(w) < 2),
    "aggregate": lambda v: F.aggregate(v.xs, F.lit(0), lambda acc, x: acc + F.coalesce(x, F.lit(0))),
    "aggregate_with_finish": lambda v: F.aggregate(
        v.xs,
        F.struct(F.lit(0).alias("n"), F.lit(0.0).alias("sum")),
        lambda acc, x: F.struct((acc.n + 1).alias("n"), (acc["sum"] + F.coalesce(x, F.lit(0))).alias("sum")),
        lambda acc: F.try_divide(acc["sum"], acc.n),
    ),
    "zip_with": lambda v: F.zip_with(v.xs, v.words, lambda x, w: F.concat_ws(":", x.cast("string"), w)),
    "transform_values": lambda v: F.transform_values(
        v.tags, lambda name, x: F.concat(name, x.cast("string"))
    ),
    "transform_keys": lambda v: F.transform_keys(v.tags, lambda name, x: F.upper(name)),
    "map_filter": lambda v: F.map_filter(v.tags, lambda name, x: x.isNotNull()),
    "map_zip_with": lambda v: F.map_zip_with(v.tags, v.tags, lambda name, x, y: x + y),
    "array_sort_with_comparator": lambda v: F.array_sort(F.array_compact(v.xs), _descending),
    "nested_lambdas": lambda v: F.transform(v.xs, lambda x: F.transform(v.words, lambda w: F.concat(w, x))),
    "lambda_over_structs": lambda v: F.transform(
        v.items, lambda item: item.withField("total", item.price * v.i)
    ),
}

CHOICES: dict[str, Expression] = {
    "when": lambda v: F.when(v.i > 5, "high").when(v.i < 0, v.s).otherwise(F.lit("low")),
    "when_without_otherwise": lambda v: F.when(v.b, v.i),
    "coalesce": lambda v: F.coalesce(v.inner.a, v.i, F.lit(0)),
    "nullif": lambda v: F.nullif(v.s, F.lit("")),
    "nvl2": lambda v: F.nvl2(v.i, F.lit("some"), F.lit("none")),
    "between": lambda v: v.i.between(0, 10),
    "is_in": lambda v: v.s.isin("", "x"),
    "null_safe_equal": lambda v: v.i.eqNullSafe(7),
    "is_null": lambda v: v.inner.isNull(),
    "and_or_not": lambda v: (v.b & (v.i > 0)) | ~v.s.contains("x"),
    "cast_to_text": lambda v: v.inner.cast("string"),
    "cast_of_struct": lambda v: v.inner.cast("struct<a: bigint, name: string, deep: struct<z: string>>"),
    "try_cast": lambda v: v.s.try_cast("int"),
    "literal": lambda v: F.lit(42),
    "null_literal": lambda v: F.lit(None).cast("double"),
    "the_value_itself": lambda v: v,
    "sql_text": lambda v: F.expr("value.i + size(value.xs)"),
}

DOCUMENTS: dict[str, Expression] = {
    "to_json": lambda v: F.to_json(v.inner),
    "from_json": lambda v: F.from_json(v.doc, "p array<int>, q struct<r: string>"),
    "get_json_object": lambda v: F.get_json_object(v.doc, "$.q.r"),
    "json_tuple_by_path": lambda v: F.json_array_length(F.get_json_object(v.doc, "$.p")),
    "to_csv": lambda v: F.to_csv(F.struct(v.i, v.s)),
    "from_csv": lambda v: F.from_csv(F.lit("1,x"), "a int, b string"),
    "schema_of_json": lambda v: F.schema_of_json(F.lit('{"a": 1}')),
    "xpath": lambda v: F.xpath_string(F.lit("<a><b>c</b></a>"), F.lit("a/b")),
    "variant_get": lambda v: F.try_variant_get(F.try_parse_json(v.doc), "$.p[1]", "int"),
    "variant_as_text": lambda v: F.to_json(F.try_parse_json(v.doc)),
    "variant_of_struct": lambda v: F.to_json(F.to_variant_object(v.inner)),
}

ALL: dict[str, Expression] = {
    **{f"numbers_{name}": e for name, e in NUMBERS.items()},
    **{f"text_{name}": e for name, e in TEXT.items()},
    **{f"times_{name}": e for name, e in TIMES.items()},
    **{f"nested_{name}": e for name, e in NESTED.items()},
    **{f"higher_order_{name}": e for name, e in HIGHER_ORDER.items()},
    **{f"choices_{name}": e for name, e in CHOICES.items()},
    **{f"documents_{name}": e for name, e in DOCUMENTS.items()},
}
