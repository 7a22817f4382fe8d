from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

import pytest

import brookmere as bm
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.python_code import PythonFunction, is_python
from brookmere.worker.functions.calls import AsyncCalls


@dataclass
class Order:
    id: str
    amount: float


class Model:
    def open(self) -> None:
        self.factor = 2

    def __call__(self, value: int) -> int:
        return value * self.factor


class Asking:
    async def __call__(self, key: str, value: str) -> str | None:
        return key + value


def upper(value: str) -> str:
    return value.upper()


async def asked(value: str) -> AsyncIterator[str]:
    yield value


def words(value: str) -> Iterator[str]:
    yield from value.split()


def swapped(key: str, value: int) -> tuple[int, str]:
    return value, key


def word_pairs(value: str) -> list[tuple[str, int]]:
    return [(word, 1) for word in value.split()]


def anything(value: Any) -> Any:
    return value


def four(a: Any, b: Any, c: Any, d: Any) -> Any:
    return a, b, c, d


@pytest.fixture
def app() -> bm.StreamsBuilder:
    return bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())


def function_of(app: bm.StreamsBuilder, field: str = "function") -> PythonFunction:
    (node,) = [node for node in app.build().nodes if is_python(node)]
    assert isinstance(node, ProcessorNode)
    found = getattr(node.operator, field)
    assert isinstance(found, PythonFunction)
    return found


def faults_of(app: bm.StreamsBuilder) -> list[str]:
    with pytest.raises(bm.errors.TopologyError) as refused:
        app.build()
    return [fault.what for fault in refused.value.faults]


def test_annotation_declares_the_type_a_function_returns(app: bm.StreamsBuilder) -> None:
    app.stream("in").map_values(bm.python(upper)).to("out")

    function = function_of(app)

    assert (function.call, function.returns, function.role) == (upper, str, "function of map_values")


@pytest.mark.parametrize(
    ("method", "given", "returns"),
    [
        ("map_values", bm.python(upper, returns="string"), "string"),
        ("map_values", bm.python(lambda value: value, returns=list[Order]), list[Order]),
        ("map_values", bm.python(Model), int),
        ("map_values", bm.python(cache(upper)), str),
        ("map_values", bm.python(lambda: Model(), returns=int), int),
        ("map_values", bm.python_async(Asking), str),
        ("select_key", bm.python(upper), str),
        ("map", bm.python(swapped), (int, str)),
        ("map", bm.python(anything, returns=("string", bm.Long())), ("string", bm.Long())),
        ("flat_map", bm.python(word_pairs), (str, int)),
        ("flat_map", bm.python(anything, returns=("string", "int")), ("string", "int")),
        ("flat_map_values", bm.python(words), str),
        ("flat_map_values", bm.python_async(asked), str),
        ("flat_map_values", bm.python(anything, returns="a int, b string"), "a int, b string"),
    ],
)
def test_result_of_a_function_has_a_type(
    app: bm.StreamsBuilder, method: str, given: PythonFunction, returns: object
) -> None:
    getattr(app.stream("in"), method)(given).to("out")

    assert function_of(app).returns == returns


def test_serde_that_a_function_returns_is_that_of_the_stream(app: bm.StreamsBuilder) -> None:
    stream = app.stream("in").map(bm.python(anything, returns=(bm.Long(), bm.Json(Order))))

    assert (stream._key, stream._value) == (bm.Long(), bm.Json(Order))


@pytest.mark.parametrize("method", ["filter", "filter_not"])
def test_predicate_needs_no_type(app: bm.StreamsBuilder, method: str) -> None:
    getattr(app.stream("in"), method)(bm.python(lambda value: value > "a")).to("out")

    assert function_of(app, "predicate").returns is None


def test_function_whose_parameters_all_have_defaults_is_refused() -> None:
    with pytest.raises(bm.errors.TopologyError, match="all its parameters have defaults"):
        bm.python(lambda value=None: value, returns=str)


@pytest.mark.parametrize("made", [Model, lambda: Model()])
def test_class_and_function_without_parameters_are_factories(made: Any) -> None:
    assert bm.python(made, returns=int).is_factory


@pytest.mark.parametrize("fn", [str, upper, lambda value: value, str.upper])
def test_function_with_parameters_is_called_directly(fn: Any) -> None:
    assert not bm.python(fn).is_factory


def test_asynchronous_function_says_how_it_is_called() -> None:
    made = bm.python_async(Asking(), concurrency=8, timeout=timedelta(seconds=2), retries=3, backoff="50ms")

    assert made.asynchronous == AsyncCalls(8, 2000, 3, 50)


def test_same_program_with_python_code_is_the_same_topology() -> None:
    def build() -> bm.Topology:
        app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
        app.stream("in").map_values(bm.python(lambda value: value + "!", returns=str)).to("out")
        return app.build()

    assert build() == build()


@pytest.mark.parametrize("method", ["map_values", "transform_values", "filter", "filter_not"])
@pytest.mark.parametrize("store", [None, "kept"])
def test_table_with_python_code_is_described_as_one_node(
    app: bm.StreamsBuilder, method: str, store: str | None
) -> None:
    plain = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())

    getattr(app.table("in"), method)(bm.python(upper), store=store).to_stream().to("out")
    getattr(plain.table("in"), method)(lambda value: value, store=store).to_stream().to("out")

    assert app.describe() == plain.describe()


def test_stream_with_python_code_has_the_names_of_one_with_columns() -> None:
    def describe(one: Any, pair: Any, many: Any, test: Any) -> str:
        app = bm.StreamsBuilder("app", key=bm.Text(), value=bm.Text())
        stream = app.stream("in").filter(test).map(pair).flat_map_values(many).map_values(one).flat_map(pair)
        split = stream.select_key(one).split().branch(test).branch(test).default_branch()
        for number, branch in enumerate(split.values()):
            branch.group_by(one).count(store=f"store-{number}").to_stream().to(f"out-{number}")
        return app.describe()

    python = describe(
        bm.python(upper),
        bm.python(anything, returns=(str, str)),
        bm.python(words),
        bm.python(lambda value: True),
    )

    assert python == describe(*[lambda value: value] * 4)


@pytest.mark.parametrize(
    ("given", "initial"), [(0, 0), (list, None), (bm.python(dict), None), (lambda: Order("", 0.0), None)]
)
def test_python_aggregate_starts_with_a_value_or_a_python_function(
    app: bm.StreamsBuilder, given: Any, initial: Any
) -> None:
    grouped = app.stream("in").group_by_key()
    grouped.aggregate(given, bm.python(lambda value, agg: agg, returns=bm.Long()), store="sums")

    (node,) = [node for node in app.build().nodes if is_python(node)]
    assert isinstance(node, ProcessorNode)
    start = node.operator.initial  # type: ignore[union-attr]

    assert start.value == initial if initial is not None else isinstance(start, PythonFunction)
    assert app.build().store("sums").value == bm.Long()


def test_every_aggregate_can_have_python_steps(app: bm.StreamsBuilder) -> None:
    step = bm.python(lambda value, agg: agg, returns="string")
    join = bm.python(lambda agg, other: agg)
    grouped = app.stream("in").group_by_key()
    windows = bm.TimeWindows(timedelta(seconds=1))
    sessions = bm.SessionWindows(timedelta(seconds=1))

    grouped.reduce(join)
    grouped.windowed_by(windows).aggregate("", step)
    grouped.windowed_by(windows).reduce(join)
    grouped.windowed_by(sessions).aggregate("", step, merger=join)
    grouped.cogroup(step).aggregate("")
    grouped.cogroup(step).windowed_by(sessions).aggregate("", merger=join)
    table = app.table("t").group_by(bm.python(swapped))
    table.aggregate("", step, step)
    table.reduce(join, join)

    assert sum(is_python(node) for node in app.build().nodes) == 9


def test_functions_of_one_aggregate_must_be_of_one_kind(app: bm.StreamsBuilder) -> None:
    step = bm.python(lambda value, agg: agg, returns="string")
    grouped = app.stream("in").group_by_key()
    sessions = grouped.windowed_by(bm.SessionWindows(timedelta(seconds=1)))
    sessions.aggregate("", step, merger=lambda agg, other: agg)
    grouped.aggregate(bm.python(list), lambda value, agg: agg)
    app.table("t").group_by(lambda k, v: (k, v)).reduce(bm.python(lambda a, b: a), lambda a, b: a)

    assert faults_of(app) == [
        "The step of aggregate is Python, but the merger of aggregate is over Columns",
        "The initial value of aggregate is Python, but the step of aggregate is over Columns",
        "The adder of reduce is Python, but the subtractor of reduce is over Columns",
    ]


def test_predicates_of_one_split_must_be_of_one_kind(app: bm.StreamsBuilder) -> None:
    app.stream("in").split().branch(bm.python(upper)).branch(lambda value: value == "a").no_default_branch()

    assert faults_of(app) == ["A split mixes Python predicates with predicates over Columns"]


def test_missing_declarations_of_all_functions_are_reported_together(app: bm.StreamsBuilder) -> None:
    stream = app.stream("in")
    stream.map_values(bm.python(anything))
    stream.map(bm.python(upper))
    stream.flat_map_values(bm.python(upper, batch="arrow", returns="string"))
    stream.map_values(bm.python(anything, returns={"a": 1}))
    stream.map_values(bm.python(four, returns="string"))
    stream.split().branch(bm.python_async(Asking())).no_default_branch()
    app.table("t").filter(bm.python(anything, batch="arrow"))

    places = (f"; it is defined at {__file__}:{fn.__code__.co_firstlineno}" for fn in (anything, four))
    place, four_place = places
    assert faults_of(app) == [
        f"The function of map_values does not declare the type it returns{place}",
        "The function of map must return a key and a value, found str",
        'The function of flat_map_values cannot have batch="arrow"',
        "The result of the function of map_values is not a type: found {'a': 1}",
        f"The function of map_values takes 4 parameters{four_place}",
        "The predicate of branch cannot be asynchronous",
        'The predicate of filter cannot have batch="arrow"',
    ]


def test_python_code_is_refused_elsewhere_with_all_faults_together(app: bm.StreamsBuilder) -> None:
    code = bm.python(upper)
    left, right = app.table("left"), app.table("right")
    stream = app.stream("in", timestamp=code)
    stream.join(right, code)
    left.join(right, lambda a, b: a, foreign_key=code)
    stream.to(code)
    stream.dedupe(timedelta(seconds=1), by=code)
    stream.group_by_key().agg(low=bm.min(code))
    stream.group_by_key().top_n(3, by=code)

    with pytest.raises(bm.errors.TopologyError) as refused:
        app.build()

    assert [fault.what for fault in refused.value.faults] == [
        "The timestamp cannot be Python code",
        "The joiner of join cannot be Python code",
        "The foreign_key of join cannot be Python code",
        "The topic of to cannot be Python code",
        "The by of dedupe cannot be Python code",
        "The field of min cannot be Python code",
        "The by of top_n cannot be Python code",
    ]
    assert all(__file__ in str(fault.where) for fault in refused.value.faults)
    assert all("map_values()" in fault.remedy for fault in refused.value.faults)


async def lookup(value: str) -> str:
    return value


class Lookup:
    async def __call__(self, value: str) -> str:
        return value


@pytest.mark.parametrize(
    "make",
    [
        lambda: bm.python("upper"),
        lambda: bm.python(upper, batch="polars"),
        lambda: bm.python(bm.python(upper)),
        lambda: bm.python(lookup),
        lambda: bm.python(Lookup),
        lambda: bm.python_async(upper, concurrency=0),
        lambda: bm.python_async(upper, timeout="0s"),
    ],
)
def test_wrong_arguments_are_refused_at_the_users_line(make: Any) -> None:
    with pytest.raises(bm.errors.TopologyError, match="test_python"):
        make()


class Spelling:
    def __init__(self, language: str) -> None:
        self.language = language

    def open(self) -> None:
        self.known = {"colour": "color"}

    def __call__(self, word: str) -> str:
        return self.known.get(word, word)


class Connected:
    async def open(self) -> None:
        pass

    def __call__(self, word: str) -> str:
        return word


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Spelling, r"creates a Spelling without arguments, but it needs 1 .*Pass lambda: Spelling\(\.\.\.\)"),
        (Spelling("en"), r"cannot open Spelling: .*Pass the class, or lambda: Spelling\(\.\.\.\)"),
        (Connected, r"not support the asynchronous open\(\) or close\(\) of Connected .*python_async"),
    ],
)
def test_object_that_the_worker_cannot_create_and_open_is_refused(given: Any, message: str) -> None:
    with pytest.raises(bm.errors.TopologyError, match=message):
        bm.python(given)


def test_writing_a_program_with_python_code_needs_no_spark() -> None:
    program = (
        "import sys, brookmere as bm; app = bm.StreamsBuilder('a', key=bm.Text(), value=bm.Text());"
        "app.stream('in').map_values(bm.python(str.upper, returns=str)).to('out'); app.build();"
        "sys.exit(bool({'pyspark', 'pandas'} & set(sys.modules)))"
    )

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
