"""Turns any Python object into its pickled bytes, and back."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, ClassVar

from brookmere.serde.base import BadBytes, Serde


@dataclass(frozen=True, slots=True)
class Pickled(Serde):
    """Any Python object, for the stores of processors.

    Only Python can read it, and only with the classes at hand that it was written with.
    Reading pickled bytes runs what they say: never read those of strangers.

    >>> Pickled().deserialize(Pickled().serialize({1, 2}))
    {1, 2}
    """

    kind: ClassVar[str] = "pickled"

    def serialize(self, value: Any) -> bytes | None:
        return None if value is None else pickle.dumps(value, protocol=5)

    def deserialize(self, data: bytes | None) -> Any:
        if data is None:
            return None
        try:
            return pickle.loads(data)
        except Exception as error:
            raise BadBytes(f"the bytes are no pickled object: {type(error).__name__}: {error}") from error
