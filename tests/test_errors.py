"""Checks that errors say what is wrong and where, what was found and what to do."""

from __future__ import annotations

import pickle

import pytest

from brookmere.errors import (
    BrokerError,
    BrookmereError,
    CommandError,
    ConfigError,
    DamagedTopicError,
    DataLossError,
    DeserializationError,
    EngineError,
    ExpressionError,
    Fault,
    IncompatibleSchemaError,
    InstanceError,
    InternalError,
    JarNotFoundError,
    JavaNotFoundError,
    KernelBuildError,
    ProcessingError,
    ProductionError,
    RecordError,
    RegistryError,
    StateError,
    TopicError,
    TopicExistsError,
    TopologyError,
    UnknownSchemaError,
    UnknownTopicError,
    UnsupportedError,
)

PARENTS = {
    TopologyError: BrookmereError,
    ExpressionError: TopologyError,
    ConfigError: BrookmereError,
    StateError: BrookmereError,
    InstanceError: StateError,
    CommandError: BrookmereError,
    RecordError: BrookmereError,
    DeserializationError: RecordError,
    ProcessingError: RecordError,
    ProductionError: RecordError,
    TopicError: BrookmereError,
    UnknownTopicError: TopicError,
    TopicExistsError: TopicError,
    DamagedTopicError: TopicError,
    DataLossError: TopicError,
    RegistryError: BrookmereError,
    UnknownSchemaError: RegistryError,
    IncompatibleSchemaError: RegistryError,
    EngineError: BrookmereError,
    KernelBuildError: EngineError,
    JavaNotFoundError: EngineError,
    JarNotFoundError: EngineError,
    BrokerError: EngineError,
    UnsupportedError: BrookmereError,
    InternalError: BrookmereError,
}


@pytest.mark.parametrize(("error", "parent"), PARENTS.items())
def test_every_error_hangs_where_the_tree_draws_it(
    error: type[BrookmereError], parent: type[BrookmereError]
) -> None:
    assert error.__bases__ == (parent,)


def test_a_single_fault_reads_as_one_sentence_with_place_and_remedy() -> None:
    error = TopologyError(
        [Fault("Store 'counts' is used twice", "app.py:12", "Give one of them another name")]
    )

    text = str(error)

    assert text == "Store 'counts' is used twice (app.py:12). Give one of them another name."


def test_a_fault_without_a_place_leaves_it_out() -> None:
    assert (
        str(Fault("The topology is empty.", None, "Add a source.")) == "The topology is empty. Add a source."
    )


def test_several_faults_are_numbered_and_all_printed() -> None:
    faults = [Fault("One is wrong", "a.py:1", "Mend it"), Fault("Two is wrong", None, "Mend it, too")]

    text = str(TopologyError(faults))

    assert text.splitlines() == [
        "2 faults:",
        "  1. One is wrong (a.py:1). Mend it.",
        "  2. Two is wrong. Mend it, too.",
    ]


def test_a_topology_error_without_faults_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one fault"):
        TopologyError([])


def test_a_record_error_reads_as_one_paragraph() -> None:
    error = DeserializationError(
        "expected 8 bytes for a Long, found 3",
        reason="BadBytes",
        node="KSTREAM-SOURCE-0000000000",
        task=1,
        topic="orders",
        partition=1,
        offset=42,
        key=b"a",
        value=b"abc",
    )

    text = str(error)

    assert text == (
        "A record could not be read at node KSTREAM-SOURCE-0000000000, task 1, topic orders, partition 1, "
        "offset 42: BadBytes: expected 8 bytes for a Long, found 3. Found: key b'a', value b'abc'. "
        "Give the source a serde that can read these bytes, or let deserialization.exception.handler "
        "continue past such records."
    )


def test_a_record_error_says_only_what_it_knows() -> None:
    text = str(ProcessingError("division by zero", node="ratio"))

    assert text.startswith(
        "A record could not be processed at node ratio: division by zero. Make the function"
    )


def test_several_faults_of_settings_read_like_those_of_a_program() -> None:
    faults = [Fault("One is wrong", None, "Mend it"), Fault("Two is wrong", None, "Mend it, too")]

    error = pickle.loads(pickle.dumps(ConfigError(faults)))

    assert str(error) == str(TopologyError(faults))
    assert error.faults == faults
    assert ConfigError("All is wrong").faults == []


def test_record_error_of_python_code_names_the_line_where_that_failed() -> None:
    header = "Traceback (most recent call last):\n"
    before = f'{header}  File "app.py", line 3, in parse\nKeyError: 1\n\nDuring handling:\n\n'
    frames = '  File "app.py", line 5, in parse\n  File "/usr/lib/json.py", line 9, in loads\n'

    error = ProcessingError("", reason="ValueError", node="n", trace=f"{before}{header}{frames}ValueError\n")

    assert str(error).startswith("A record could not be processed at node n: ValueError (app.py:5). Make")


def test_trace_of_a_record_error_is_kept_and_not_printed() -> None:
    error = ProcessingError("division by zero", trace="java.lang.ArithmeticException\n\tat Ratio.of(5)")

    assert error.trace is not None
    assert "Ratio.of" not in str(error)


def test_offset_and_partition_zero_are_places() -> None:
    assert "partition 0, offset 0" in str(ProductionError("refused", partition=0, offset=0))


def test_long_bytes_are_shortened_in_the_message_and_kept_in_the_error() -> None:
    value = b"x" * 1000

    error = RecordError("too long", value=value)

    assert "(1000 bytes)" in str(error)
    assert len(str(error)) < 250
    assert error.value == value


def test_errors_survive_pickling() -> None:
    fault = Fault("wrong", None, "right")
    record = ProcessingError("no", reason="ArithmeticException", node="n", task=0, offset=3, key=b"k")

    definition_copy = pickle.loads(pickle.dumps(ExpressionError([fault])))
    record_copy = pickle.loads(pickle.dumps(record))

    assert definition_copy.faults == [fault]
    assert str(record_copy) == str(record)
    assert vars(record_copy) == vars(record)


def test_an_internal_error_asks_for_a_report() -> None:
    assert str(InternalError("stage 2 has no exchange")) == (
        "stage 2 has no exchange. This is a bug in Brookmere: please report it."
    )
