"""`brookmere describe`: the topology of a program, or the stages it runs in."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from brookmere.cli.options.parameters import Program
from brookmere.cli.programs.load import built, load
from brookmere.cli.terminal import console
from brookmere.plan.explain_program import explain


class Form(StrEnum):
    TEXT = "text"
    MERMAID = "mermaid"
    JSON = "json"


def describe(
    program: Program,
    form: Annotated[
        Form, typer.Option("--format", help="Kafka Streams' text, a Mermaid flow chart, or JSON.")
    ] = Form.TEXT,
    plan: Annotated[
        bool, typer.Option("--plan", help="Show the stages in which Spark runs the program.")
    ] = False,
    partitions: Annotated[
        int,
        typer.Option(min=1, metavar="N", help="With --plan: the number of partitions of each input topic."),
    ] = 1,
    optimization: Annotated[
        str, typer.Option(metavar="RULES", help="none, all, or rule names, as in topology.optimization.")
    ] = "none",
) -> None:
    """Show the topology of a program without starting it.

    \b
    Examples:
      brookmere describe examples/word_count.py
      brookmere describe stock_stats:app --format mermaid
      brookmere describe stock_stats:app --plan --partitions 4
      brookmere describe stock_stats:app --plan --optimization all
    """
    topology = built(load(program), optimization)
    if plan:
        text = explain(topology, partitions=partitions, form=form.value)
    elif form is Form.TEXT:
        text = topology.describe()
    else:
        text = topology.to_mermaid() if form is Form.MERMAID else topology.to_json()
    console.write(text.rstrip("\n"))
