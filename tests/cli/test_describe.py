"""`describe` shows a program in each of its forms, without Spark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import brookmere as bm
from brookmere.cli.programs.load import built, load
from tests.cli.conftest import COUNT, Run


@pytest.fixture
def topology(folder: Path) -> bm.Topology:
    (folder / "clicks.py").write_text(COUNT)
    return built(load("clicks:app"))


def test_text_is_that_of_kafka_streams(run: Run, topology: bm.Topology) -> None:
    shown = run("describe", "clicks:app")

    assert shown.exit_code == 0
    assert shown.stdout == topology.describe().rstrip("\n") + "\n"
    assert shown.stdout.startswith("Topologies:\n   Sub-topology: 0\n")


def test_json_and_mermaid_are_those_of_the_topology(run: Run, topology: bm.Topology) -> None:
    assert json.loads(run("describe", "clicks:app", "--format", "json").stdout) == json.loads(
        topology.to_json()
    )
    assert run("describe", "clicks:app", "--format", "mermaid").stdout == topology.to_mermaid()


def test_plan_counts_the_tasks(run: Run, topology: bm.Topology) -> None:
    shown = run("describe", "clicks:app", "--plan", "--partitions", "3")

    assert shown.stdout == bm.explain(topology, partitions=3)


def test_optimization_is_shown_in_the_plan(run: Run, folder: Path) -> None:
    (folder / "kept.py").write_text(
        'import brookmere as bm\n\napp = bm.StreamsBuilder("kept", key=bm.Text(), value=bm.Text())\n'
        'app.table("in", store="rows")\n'
    )

    shown = run("describe", "kept:app", "--plan", "--optimization", "all")

    assert "Optimized by\n  reuse.ktable.source.topics: rows is restored from" in shown.stdout


def test_fault_is_one_paragraph(run: Run, folder: Path) -> None:
    (folder / "bad.py").write_text(
        'import brookmere as bm\n\napp = bm.StreamsBuilder("bad")\napp.stream("in").to("not a name")\n'
    )

    shown = run("describe", "bad:app")

    assert shown.exit_code == 1
    assert shown.stdout == ""
    assert shown.stderr.startswith("Error: ")
    assert "bad.py:4" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_unknown_format_is_wrong_usage(run: Run, folder: Path) -> None:
    assert run("describe", "clicks:app", "--format", "yaml").exit_code == 2
