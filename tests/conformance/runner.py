"""Runs a scenario on one of the engines and tells the first difference to what was recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal

from brookmere import Text, Topology
from brookmere.errors import RecordError, TopologyError
from brookmere.record import Record
from brookmere.testing import TopologyTestDriver
from brookmere.testing.stores import StoreView
from tests.conformance.build import build
from tests.conformance.scenario import Batch, Row, Scenario

Engine = Literal["local", "spark"]

# The names that a recorded message is about; ours must tell them, in whatever words.
_SUBJECTS = (
    re.compile(r"Topic (\S+) has already been registered"),
    re.compile(r'Name "(.+)" is illegal'),
    re.compile(r"Processor (\S+?)(?:-repartition-filter)? is already added"),
    re.compile(r"already been added with the name (\S+)"),
    re.compile(r"retention period of the (?:window|session) store (\S+) must"),
)


def difference(
    scenario: Scenario,
    *,
    engine: Engine = "local",
    cut: str = "single",
    python: bool = False,
    restarts: bool = False,
) -> str | None:
    """Run a scenario; return the first difference in one line, or None if it conforms.

    With `python` its words are Python functions. With `restarts` the program begins again after every
    micro-batch, from its state alone.
    """
    error = scenario.error
    try:
        topology = build(scenario.data["topology"], optimize=scenario.optimize, python=python)
    except TopologyError as refused:
        return _refusal(scenario, refused)
    if error is not None and error["stage"] == "build":
        return f"was built, but should be refused: {error['message']}"
    with TopologyTestDriver(topology, engine=engine) as driver:
        run = _Run(scenario, driver, cut, restarts=restarts)
        found = run.failure() if error is not None else run.end()
    return found or _describe(scenario, topology)


def describe_difference(scenario: Scenario) -> str | None:
    """Build a scenario without running it; return the first difference of its description."""
    return _describe(scenario, build(scenario.data["topology"], optimize=scenario.optimize))


class _Run:
    """One scenario on its way through the driver."""

    def __init__(
        self, scenario: Scenario, driver: TopologyTestDriver, cut: str, *, restarts: bool = False
    ) -> None:
        self._scenario = scenario
        self._driver = driver
        self._cut = cut
        self._restarts = restarts
        self._outputs = {
            topic: driver.output_topic(topic, key=Text(), value=Text()) for topic in scenario.outputs
        }
        self._written: dict[str, list[Row]] = {topic: [] for topic in scenario.outputs}

    def end(self) -> str | None:
        """Feed everything and compare."""
        for batch in self._scenario.batches(self._cut):
            self._feed(batch)
            self._collect(batch)
            if self._restarts:
                self._driver.restart()
        return self._outputs_differ() or self._stores_differ()

    def failure(self) -> str | None:
        """Feed until the recorded step fails and compare what was written before."""
        error = self._scenario.error or {}
        step, message = error["after"], error["message"]
        for batch in self._scenario.batches(self._cut):
            try:
                self._feed(batch)
            except RecordError as failed:
                self._collect(batch)
                if not batch.first <= step <= batch.last:
                    steps = f"steps {batch.first} to {batch.last}"
                    return f"failed within {steps}, expected at step {step}: {_line(failed)}"
                if message not in str(failed):
                    return f"failed with {_line(failed)!r}, expected {message!r}"
                return self._outputs_differ(sure=batch.first)
            self._collect(batch)
        return f"did not fail, expected at step {step}: {message}"

    def _feed(self, batch: Batch) -> None:
        if batch.wall_clock is not None:
            self._driver.advance_wall_clock(timedelta(milliseconds=batch.wall_clock))
        else:
            self._driver.pipe_records(batch.records)

    def _collect(self, batch: Batch) -> None:
        for topic, output in self._outputs.items():
            after = batch.first if self._cut == "single" else None
            self._written[topic] += [_row(record, after) for record in output.read_records_to_list()]

    def _outputs_differ(self, sure: int | None = None) -> str | None:
        # A micro-batch that fails may or may not have shown what it wrote before: only the rows of the steps
        # below `sure` must be there then.
        for topic, expected in self._scenario.outputs.items():
            if self._cut != "single":
                rows = [replace(row, after=None) for row in expected]
                least = [row for row in expected if sure is None or (row.after or 0) < sure]
            else:
                rows, least = expected, expected
            found = _outputs_differ(rows, self._written[topic], len(least))
            if found:
                return f"{topic}{found}"
        return None

    def _stores_differ(self) -> str | None:
        for name, store in self._scenario.data.get("stores", {}).items():
            found = rows_differ(store, self._driver.store(name).rows()) or _past_differs(
                self._driver.store(name), store.get("as_of", ())
            )
            if found:
                return f"store {name}: {found}"
        return None


def rows_differ(store: Mapping[str, Any], rows: Iterable[tuple[Any, Any, int]]) -> str | None:
    """Return the first difference between a recorded store and rows of key, value and timestamp."""
    expected = sorted(_stored(row["key"], row["value"], row.get("ts")) for row in store["rows"])
    # Sessions and the stores of processors keep no time beside a row.
    timed = any("ts" in row for row in store["rows"])
    actual = sorted(_stored(key, value, ts if timed else None) for key, value, ts in rows)
    for row in expected:
        if row not in actual:
            return f"expected {row}, found {_same_key(row, actual)}"
    for row in actual:
        if row not in expected:
            return f"unexpected {row}"
    if len(expected) != len(actual):
        return f"{len(expected)} rows expected, {len(actual)} found"
    return None


def _past_differs(view: StoreView, expected: Iterable[Mapping[str, Any]]) -> str | None:
    for row in expected:
        key, time = row["key"], row["as_of"]
        wanted = None if row["value"] is None else (row["value"], row["ts"])
        found = view.get_as_of(key, time)
        if found != wanted:
            return f"{key} as of {time}: expected {wanted}, found {found}"
    return None


def _refusal(scenario: Scenario, refused: TopologyError) -> str | None:
    error = scenario.error
    if error is None or error["stage"] != "build":
        return f"refused: {_line(refused)}"
    for pattern in _SUBJECTS:
        subject = pattern.search(error["message"])
        if subject and subject[1] not in str(refused):
            return f"refused without telling {subject[1]!r}: {_line(refused)}"
    return None


def _describe(scenario: Scenario, topology: Topology) -> str | None:
    expected = scenario.data.get("describe")
    if expected is None or expected == (actual := topology.describe()):
        return None
    wanted, found = expected.splitlines(), actual.splitlines()
    for number, (one, other) in enumerate(zip(wanted, found, strict=False), start=1):
        if one != other:
            return f"describe line {number}: expected {one.strip()!r}, got {other.strip()!r}"
    if len(wanted) == len(found):
        return "describe: ends with other white space"
    longer, verb = (wanted, "misses") if len(wanted) > len(found) else (found, "adds")
    return f"describe {verb} {longer[min(len(wanted), len(found))].strip()!r}"


def _outputs_differ(expected: list[Row], actual: list[Row], least: int) -> str | None:
    for place, (one, other) in enumerate(zip(expected, actual, strict=False)):
        if one != other:
            return f"[{place}]: expected {one}, got {other}"
    if len(actual) < least:
        return f"[{len(actual)}]: expected {expected[len(actual)]}, got nothing more"
    if len(actual) > len(expected):
        return f"[{len(expected)}]: expected nothing more, got {actual[len(expected)]}"
    return None


def _row(record: Record, after: int | None) -> Row:
    headers = tuple((name, None if data is None else data.decode()) for name, data in record.headers)
    return Row(record.key, record.value, record.timestamp, headers, after)


def _stored(key: Any, value: Any, timestamp: int | None = None) -> tuple[str, str, int]:
    return (_key_text(key), str(value), -1 if timestamp is None else timestamp)


def _key_text(key: Any) -> str:
    if isinstance(key, dict) and key.keys() == {"key", "start", "end"}:
        return f"{_key_text(key['key'])}@{key['start']}/{key['end']}"
    return str(key)


def _same_key(row: tuple[str, str, int], rows: Iterable[tuple[str, str, int]]) -> str:
    return next((str(other) for other in rows if other[0] == row[0]), "no such key")


def _line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]
