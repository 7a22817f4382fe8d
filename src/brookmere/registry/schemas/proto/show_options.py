"""The text of options in descriptors."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import UninterpretedOption
from google.protobuf.text_encoding import CEscape


def option_statements(options: Any, leave_out: Sequence[str] = ()) -> Iterator[str]:
    """Yield each option as a statement."""
    for setting in _settings(options, leave_out):
        yield f"option {setting};"


def field_options(options: Any, own: Sequence[str] = ()) -> str:
    """Return the options of a field in brackets, after those stored in the descriptor itself."""
    settings = [*own, *_settings(options)]
    return f" [{', '.join(settings)}]" if settings else ""


def quoted(text: str) -> str:
    """Return a text as a string literal of a .proto file."""
    return f'"{CEscape(text, as_utf8=True)}"'


def _settings(options: Any, leave_out: Sequence[str] = ()) -> Iterator[str]:
    for field, content in options.ListFields():
        if field.name in leave_out:
            continue
        if field.name == "uninterpreted_option":
            yield from (_uninterpreted(one) for one in content)
            continue
        name = f"({field.full_name})" if field.is_extension else field.name
        for one in content if field.is_repeated else [content]:
            yield f"{name} = {_value(field, one)}"


def _value(field: FieldDescriptor, content: Any) -> str:
    if field.message_type is not None:
        return f"{{ {text_format.MessageToString(content, as_one_line=True)} }}"
    if field.enum_type is not None:
        return str(field.enum_type.values_by_number[content].name)
    if isinstance(content, bool):
        return "true" if content else "false"
    if isinstance(content, bytes):
        return f'"{CEscape(content, as_utf8=False)}"'
    if isinstance(content, str):
        return quoted(content)
    return _number(content)


def _number(content: float) -> str:
    if isinstance(content, float) and (math.isinf(content) or math.isnan(content)):
        return "nan" if math.isnan(content) else "inf" if content > 0 else "-inf"
    return repr(content)


def _uninterpreted(option: UninterpretedOption) -> str:
    name = ".".join(f"({part.name_part})" if part.is_extension else part.name_part for part in option.name)
    if option.HasField("identifier_value"):
        content = option.identifier_value
    elif option.HasField("string_value"):
        content = f'"{CEscape(option.string_value, as_utf8=False)}"'
    elif option.HasField("aggregate_value"):
        content = f"{{ {option.aggregate_value} }}"
    elif option.HasField("double_value"):
        content = _number(option.double_value)
    elif option.HasField("negative_int_value"):
        content = str(option.negative_int_value)
    else:
        content = str(option.positive_int_value)
    return f"{name} = {content}"
