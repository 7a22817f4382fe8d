"""Calls the user's functions of peek, foreach and print on the driver, with the records of each batch."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import _parse_datatype_json_string

from brookmere.run.compile.compiler import Compiled
from brookmere.run.query.outputs import Written, read_outputs


def show_taps(compiled: Compiled, rows: DataFrame) -> None:
    """Call the functions for the tapped records of a batch, in order of arrival."""
    tapped = rows.where(F.col("node").isin(*compiled.taps)).orderBy("clock", "source", "seq", "due", "step")
    found = tapped.select("node", "key", "value").collect()
    show([(r["node"], _bytes(r["key"]), _bytes(r["value"])) for r in found], compiled)


def listen_to_taps(session: SparkSession, name: str, compiled: Compiled, raised: list[Exception]) -> None:
    """Let the sink called `name` send the tapped records of each batch to this process.

    What the user's functions raise is added to `raised`.
    """
    jvm: Any = session._jvm
    callbacks: Any = ensure_callback_server_started
    callbacks(session.sparkContext._gateway)
    jvm.brookmere.kernel.transport.Sinks.listen(name, _TapListener(compiled, raised))


@dataclass(frozen=True, eq=False)
class _TapListener:
    """Implements the JVM's interface of the same name."""

    compiled: Compiled
    raised: list[Exception]

    def tapped(self, rows: Any) -> None:
        try:
            found = [w for w in read_outputs(bytes(rows)) if isinstance(w, Written)]
            show([(w.node, w.key, w.value) for w in found], self.compiled)
        except Exception as error:
            # Spark passes on only the text of what a callback raises.
            self.raised.append(error)
            raise

    class Java:
        implements = ("brookmere.kernel.transport.TapListener",)


def show(records: Sequence[tuple[int, bytes | None, bytes | None]], compiled: Compiled) -> None:
    """Call the functions for (node, packed key, packed value)."""
    keys: dict[int, Any] = {}
    values: dict[int, Any] = {}
    for node in {node for node, _, _ in records}:
        keys[node] = iter(unpickle(compiled, node, True, [k for n, k, _ in records if n == node]))
        values[node] = iter(unpickle(compiled, node, False, [v for n, _, v in records if n == node]))
    for node, _, _ in records:
        compiled.taps[node](next(keys[node]), next(values[node]))


def unpickle(compiled: Compiled, node: int, is_key: bool, packed: list[bytes | None]) -> list[Any]:
    """Return the Python values of packed rows that a node sent."""
    data = compiled.builder.pickle(node, is_key, [None if p is None else bytes(p) for p in packed])
    return python_values(
        data, compiled.builder.key_type(node) if is_key else compiled.builder.value_type(node)
    )


def python_values(pickled: Any, type_json: str) -> list[Any]:
    """Return a list that the kernel pickled, as `collect()` would return it, but with dicts for rows."""
    data_type = _parse_datatype_json_string(type_json)
    # Rows arrive converted; dates and times on their own or in arrays and maps are still numbers.
    return [plain(data_type.fromInternal(value)) for value in pickle.loads(bytes(pickled))]


def plain(value: Any) -> Any:
    """Return dicts for Spark's rows, at any depth."""
    if isinstance(value, Row):
        return {name: plain(v) for name, v in zip(value.__fields__, value, strict=True)}
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, bytearray):
        return bytes(value)
    return value


def _bytes(value: bytearray | None) -> bytes | None:
    return None if value is None else bytes(value)
