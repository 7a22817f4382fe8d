"""Any Python object, as Python's pickle writes it."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, ClassVar

from brookmere.serde.bad_values import BadBytes
from brookmere.serde.base import Serde
from brookmere.serde.columns import Column, Columns, SparkType, SparkTypes
from brookmere.serde.json.value_schemas import ANY
from brookmere.serde.structures.type_fit import Misfit, other_type


@dataclass(frozen=True, slots=True)
class Pickled(Serde):
    """Any Python object, for the stores of processors.

    Only Python can read it, and only with the classes at hand that it was written with.
    Reading pickled bytes runs what they say: never read those of strangers.

    >>> Pickled().deserialize(Pickled().serialize({1, 2}))
    {1, 2}
    """

    kind: ClassVar[str] = "pickled"
    is_default: ClassVar[bool] = True
    is_pickled: ClassVar[bool] = True

    def serialize(self, value: Any) -> bytes | None:
        return None if value is None else pickle.dumps(value, protocol=5)

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        try:
            return pickle.loads(data)
        except Exception as error:
            raise BadBytes(f"the bytes are not a pickled object: {type(error).__name__}: {error}") from error

    def spark_type(self) -> SparkType:
        return "binary"

    def read_column(self, raw: Column, columns: Columns) -> Column:  # noqa: ARG002
        # Only Python knows what it is: Columns see the bytes.
        return raw

    def write_column(self, value: Column, columns: Columns, found: Any) -> Column:  # noqa: ARG002
        return value

    def misfit(self, found: Any, types: SparkTypes) -> Misfit | None:  # noqa: ARG002
        return None if found == "binary" else other_type("Pickled", found, "Let Python code return Pickled()")

    def json_schema(self) -> dict[str, Any]:
        return ANY
