"""Calls a function of Arrow or pandas batches for the records of a chunk.

A batch that fails is halved until the records that cannot be computed are alone: only they fail. So the
function may see a record again, in a smaller batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from brookmere.worker.functions.ahead import Answers, Compute, Failed
from brookmere.worker.functions.calls import UserFunction, plain_call
from brookmere.worker.protocol.stage_code import NodeCode, Runtime
from brookmere.worker.task.failures import FAILURES
from brookmere.worker.types.arrow import arrow_type, column
from brookmere.worker.types.scalars import shown

_TIMESTAMP = pa.timestamp("ms", tz="UTC")

Take = Callable[[Any], list[Any]]
"""Converts what the function returned to a list of results."""


class WrongKindError(TypeError):
    """A batch function did not return arrays: smaller batches would not help."""


def batch_compute(function: UserFunction, answers: Answers, node: NodeCode, runtime: Runtime) -> Compute:
    """Return the function that handles all records of a chunk at once."""
    call = plain_call(function, node, runtime)
    take = _take(function, answers, node)
    to_user = _as_is if function.batch == "arrow" else _frames()

    def compute(keys: list[Any], values: list[Any], times: list[int]) -> list[Any]:
        columns = [column(node.key, keys), column(node.value, values), pa.array(times, _TIMESTAMP)]
        batch = pa.RecordBatch.from_arrays(columns, names=["key", "value", "timestamp"])
        return _halved(lambda part: _checked(function, take(call(to_user(part))), part.num_rows), batch)

    return compute


def _halved(compute: Callable[[pa.RecordBatch], list[Any]], batch: pa.RecordBatch) -> list[Any]:
    try:
        return compute(batch)
    except WrongKindError as error:
        return [Failed(error)] * batch.num_rows
    except FAILURES as error:
        if batch.num_rows == 1:
            return [Failed(error)]
    # After the handler, so that the failure of a part is reported without that of the whole.
    half = batch.num_rows // 2
    return _halved(compute, batch.slice(0, half)) + _halved(compute, batch.slice(half))


def _checked(function: UserFunction, found: list[Any], rows: int) -> list[Any]:
    if len(found) != rows:
        raise ValueError(
            f"The {function.where} returned {len(found)} rows for {rows} records; "
            "return one row for each record, in their order"
        )
    return found


def _take(function: UserFunction, answers: Answers, node: NodeCode) -> Take:
    match answers:
        case "values":
            return _single(function, arrow_type(node.out_value))
        case "keys":
            return _single(function, arrow_type(node.out_key))
        case "tests":
            return _single(function, pa.bool_())
        case "pairs":
            return _pairs(function, arrow_type(node.out_key), arrow_type(node.out_value))
    raise ValueError(f"The {function.where} cannot be one of batches; leave out batch= for flat_map")


def _single(function: UserFunction, kind: pa.DataType) -> Take:
    def take(answer: Any) -> list[Any]:
        return _values(function, _array(function, answer, kind), kind)

    return take


def _pairs(function: UserFunction, key: pa.DataType, value: pa.DataType) -> Take:
    def take(answer: Any) -> list[Any]:
        names = _names(answer)
        if names is None or set(names) != {"key", "value"}:
            found = shown(answer) if names is None else f"the columns {', '.join(map(str, names))}"
            raise WrongKindError(
                f"The {function.where} must return the columns key and value, "
                f"found {found}; return a {_FORMS[function.batch or 'arrow'][1]} of these two"
            )
        keys = _array(function, answer["key"], key)
        values = _array(function, answer["value"], value)
        return [*zip(_values(function, keys, key), _values(function, values, value), strict=True)]

    return take


_FORMS = {
    "arrow": ("pyarrow.Array", "pyarrow.RecordBatch"),
    "pandas": ("pandas.Series", "pandas.DataFrame"),
}


def _array(function: UserFunction, answer: Any, kind: pa.DataType) -> Any:
    """Return an answer as an array; the columns of a whole table are the fields of a struct."""
    if isinstance(answer, pa.RecordBatch | pa.Table):
        return answer.to_struct_array()
    if isinstance(answer, pa.Array | pa.ChunkedArray):
        return answer
    if function.batch == "pandas" and hasattr(answer, "dtype") and getattr(answer, "ndim", 0) == 1:
        return pa.Array.from_pandas(answer, type=kind)
    if function.batch == "pandas" and _names(answer) is not None:
        return pa.RecordBatch.from_pandas(answer, preserve_index=False).to_struct_array()
    one, many = _FORMS[function.batch or "arrow"]
    raise WrongKindError(
        f"The {function.where} must return a {one}, found {shown(answer)}; "
        f"return a {one}, or a {many} whose columns are the fields of the value"
    )


def _values(function: UserFunction, array: Any, kind: pa.DataType) -> list[Any]:
    strange = _strange(array.type, kind)
    if strange is not None:
        raise WrongKindError(
            f"The {function.where} returned the field {strange!r}, which its type does not have; "
            "leave it out, or add it to returns="
        )
    found = array if array.type == kind else array.cast(kind)
    # Dicts are requested only if there are maps, because they make all values many times slower.
    if _has_map(kind):
        return found.to_pylist(maps_as_pydicts="strict")  # type: ignore[no-any-return]
    return found.to_pylist()  # type: ignore[no-any-return]


def _strange(found: pa.DataType, kind: pa.DataType) -> str | None:
    """Return a field that only what was found has: a cast would leave it out."""
    if pa.types.is_struct(found) and pa.types.is_struct(kind):
        known = {member.name: member.type for member in kind}
        for member in found:
            if member.name not in known:
                return str(member.name)
            if (inner := _strange(member.type, known[member.name])) is not None:
                return f"{member.name}.{inner}"
    elif found.num_fields == kind.num_fields:
        pairs = [(found.field(n).type, kind.field(n).type) for n in range(kind.num_fields)]
        return next((inner for pair in pairs if (inner := _strange(*pair)) is not None), None)
    return None


def _has_map(kind: pa.DataType) -> bool:
    if pa.types.is_map(kind):
        return True
    return any(_has_map(kind.field(place).type) for place in range(kind.num_fields))


def _names(answer: Any) -> list[Any] | None:
    """Return the names of the columns of an Arrow table or a DataFrame; None for anything else."""
    if isinstance(answer, pa.RecordBatch | pa.Table):
        return list(answer.schema.names)
    columns = getattr(answer, "columns", None)
    return None if columns is None else list(columns)


def _frames() -> Callable[[pa.RecordBatch], Any]:
    """Return the conversion to DataFrames; integers stay integers next to nulls: batches are cut anywhere."""
    import pandas

    kinds = {getattr(pa, f"int{n}")(): getattr(pandas, f"Int{n}Dtype")() for n in (8, 16, 32, 64)}
    return lambda batch: batch.to_pandas(types_mapper=kinds.get)


def _as_is(batch: pa.RecordBatch) -> pa.RecordBatch:
    return batch
