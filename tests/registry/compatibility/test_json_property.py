"""When the check of JSON Schemas says so, each value that the writer's schema allows fits the reader's."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import Phase, event, given, note, settings
from hypothesis import strategies as st

from brookmere.registry.compatibility.json_schema import json_schema_differences
from brookmere.registry.schemas.json import parse_json_schema
from tests.registry.compatibility.json_schemas import Making, fits

EXAMPLES = settings(max_examples=1000, deadline=None, phases=(Phase.generate,))


def differences(reader: Any, writer: Any) -> list[str]:
    return json_schema_differences(
        parse_json_schema(json.dumps(reader), {}), parse_json_schema(json.dumps(writer), {})
    )


@EXAMPLES
@given(st.integers(0, 2**64))
def test_values_of_the_writer_fit_the_reader_when_the_check_says_so(seed: int) -> None:
    making = Making(seed)
    writer = making.schema(2)
    reader = making.changed(making.changed(writer, 2), 2)
    if making.chance(50):
        writer, reader = reader, writer
    note(f"writer: {json.dumps(writer)}\nreader: {json.dumps(reader)}")

    reasons = differences(reader, writer)

    event("compatible" if not reasons else "incompatible")
    if not reasons:
        for _ in range(60):
            value = making.value()
            assert not fits(value, writer) or fits(value, reader), value


@EXAMPLES
@given(st.integers(0, 2**64))
def test_a_schema_can_read_what_it_wrote(seed: int) -> None:
    schema = Making(seed).schema(2)
    note(json.dumps(schema))

    assert differences(schema, schema) == []
    assert differences(True, schema) == []
