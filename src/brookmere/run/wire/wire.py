"""The kernel's readers and writers of serdes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, _parse_datatype_json_string

from brookmere.errors import ExpressionError, Fault, TopologyError, UnsupportedError
from brookmere.run.expressions.faults import explained
from brookmere.run.program_builder import ProgramBuilder
from brookmere.run.wire.changelog_serdes import log_column, log_serde
from brookmere.run.wire.fit import misfit, settled
from brookmere.run.wire.formats import Formats
from brookmere.serde import Serde, Windowed
from brookmere.serde.structures.spark_fields import NoSchema

_RAW = "raw"
_VALUE = "value"


class Wire:
    """Makes readers and writers for one program."""

    def __init__(self, session: SparkSession, builder: ProgramBuilder, *, registers: bool = True) -> None:
        self.formats = Formats(session._jvm, registers=registers)
        self._builder = builder

    def reader(self, serde: Serde, role: str, where: str | None) -> Any:
        """Return the kernel's reader of a serde."""
        _check_subject(serde, role, where, is_read=True)
        if serde.kernel_format is not None:
            return self._builder.reader(serde.kernel_format)
        with explained(role, where), _located(role, where):
            return self._builder.reader(self.formats.decode(serde, F.col(_RAW)))

    def writer(self, serde: Serde | None, node: int, is_key: bool, role: str, where: str | None) -> Any:
        """Return the kernel's writer of the key or value that `node` forwards.

        Without a serde the type decides.
        """
        data_type = self.type_of(node, is_key)
        chosen = settled(serde, data_type)
        if chosen is None:
            raise ExpressionError(
                [
                    Fault(
                        f"The {role} has the type {data_type.simpleString()}, for which there is no serde",
                        where,
                        f"Name one with {'key' if is_key else 'value'}=, or cast it to a type that has one",
                    )
                ]
            )
        with explained(role, where), _located(role, where):
            wrong = None if serde is None else misfit(chosen, data_type)
            if wrong is not None:
                raise ExpressionError([Fault(f"The {role} {wrong[0]}", where, wrong[1])])
            _check_subject(chosen, role, where, is_read=False)
            return self._writer(chosen, node, is_key, F.col(_VALUE), data_type)

    def log_writer(self, serde: Serde | None, node: int, is_key: bool, role: str, where: str | None) -> Any:
        """Return the writer of a changelog of the table that `node` keeps."""
        data_type = self.type_of(node, is_key)
        chosen = log_serde(serde, data_type)
        with explained(role, where):
            value = log_column(chosen, F.col(_VALUE), data_type)
            return self._writer(chosen, node, is_key, value, data_type)

    def _writer(self, serde: Serde, node: int, is_key: bool, value: Column, found: DataType) -> Any:
        if serde.kernel_format is not None:
            return self._builder.writer(node, is_key, serde.kernel_format)
        if is_key and isinstance(serde, Windowed) and serde.form == "binary":
            inner = serde.inner.kernel_format
            written = None if inner is None else self._builder.windowed_writer(node, inner, serde.session)
            if written is not None:
                return written
        return self._builder.writer(node, is_key, self.formats.encode(serde, value, found))

    def key_writer(self, serde: Serde | None, node: int, role: str, where: str | None) -> Any:
        """Return a writer for the key's hash: keys that no serde fits are hashed as JSON."""
        if settled(serde, self.type_of(node, True)) is None:
            with explained(role, where):
                text = F.to_json(F.struct(F.col(_VALUE).alias("key")))
                return self._builder.writer(node, True, text.cast("binary"))
        return self.writer(serde, node, True, role, where)

    def type_of(self, node: int, is_key: bool) -> DataType:
        """Return the type of the key or value that a node forwards."""
        return self.node_type(self._builder, node, is_key)

    @staticmethod
    def node_type(builder: ProgramBuilder, node: int, is_key: bool) -> DataType:
        """Return the type of the key or value that a node of a builder's program forwards."""
        return _parse_datatype_json_string(builder.key_type(node) if is_key else builder.value_type(node))

    @staticmethod
    def settled(given: Serde | None, builder: ProgramBuilder, node: int, is_key: bool) -> Serde:
        """Return the serde of what `node` writes; the type says what the program leaves open."""
        text = builder.key_type(node) if is_key else builder.value_type(node)
        found = settled(given, _parse_datatype_json_string(text))
        if found is None:
            raise UnsupportedError(f"There is no serde for the type {text}")
        return found


@contextmanager
def _located(role: str, where: str | None) -> Iterator[None]:
    """Say of which serde it is that a schema cannot be used."""
    try:
        yield
    except ExpressionError:
        raise
    except TopologyError as error:
        faults = [Fault(f"The {role} cannot be used: {f.what}", where, f.remedy) for f in error.faults]
        raise ExpressionError(faults) from error
    except NoSchema as error:
        what = f"The {role} has a schema that cannot be used: {error}"
        raise ExpressionError(
            [Fault(what, where, "Correct it, or give the serde a schema of its own")]
        ) from error


def _check_subject(serde: Serde, role: str, where: str | None, *, is_read: bool) -> None:
    """Refuse a serde that would have to ask the registry about a topic that is not known before the start."""
    if not serde.lacks_topic(is_read=is_read):
        return
    what = f"The {role} finds its schema by topic, and there is not one topic"
    raise ExpressionError([Fault(what, where, "Give the serde subject= the name of a subject, or 'record'")])
