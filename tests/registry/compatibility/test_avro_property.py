"""What the check of Avro schemas promises, fastavro keeps."""

from __future__ import annotations

import io
import json
from typing import Any

import fastavro
from hypothesis import Phase, event, given, note, settings
from hypothesis import strategies as st

from brookmere.registry.compatibility.avro import avro_differences
from brookmere.registry.schemas.avro import avro_text, parse_avro
from tests.registry.compatibility.avro_schemas import versions

EXAMPLES = settings(max_examples=1000, deadline=None, phases=(Phase.generate,))
SEEDS = st.integers(0, 2**64)


@EXAMPLES
@given(SEEDS)
def test_data_can_be_read_when_the_check_says_so(seed: int) -> None:
    writer, reader, data = versions(seed)
    note(f"writer: {json.dumps(writer)}\nreader: {json.dumps(reader)}\ndata: {data}")

    reasons = avro_differences(parse_avro(json.dumps(reader)), parse_avro(json.dumps(writer)))

    event("compatible" if not reasons else "incompatible")
    if not reasons:
        for value in data:
            read(writer, reader, value)


@EXAMPLES
@given(SEEDS)
def test_a_schema_can_read_what_it_wrote_and_its_one_text_means_the_same(seed: int) -> None:
    writer, _, data = versions(seed)
    note(json.dumps(writer))
    type = parse_avro(json.dumps(writer))

    text = avro_text(type)

    assert avro_differences(type, parse_avro(json.dumps(writer))) == []
    assert avro_differences(type, parse_avro(text)) == []
    assert avro_differences(parse_avro(text), type) == []
    assert avro_text(parse_avro(text)) == text
    for value in data:
        assert read(writer, json.loads(text), value) is not data


def read(writer: Any, reader: Any, value: Any) -> Any:
    """Write a value with one schema and read it with another."""
    file = io.BytesIO()
    fastavro.schemaless_writer(file, fastavro.parse_schema(writer), value)
    file.seek(0)
    return fastavro.schemaless_reader(file, fastavro.parse_schema(writer), fastavro.parse_schema(reader))
