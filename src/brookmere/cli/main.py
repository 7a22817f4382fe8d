"""Turns a command line into a call of a command, and what goes wrong into one paragraph and an exit code."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from brookmere.cli import check, describe, reset, run
from brookmere.cli.demo.demo import demo
from brookmere.cli.doctor import doctor
from brookmere.cli.kafka import kafka, registry
from brookmere.cli.options.command_group import group
from brookmere.cli.programs.supervise import INTERRUPTED
from brookmere.cli.query import query
from brookmere.cli.replica import replica, serve
from brookmere.cli.terminal import console
from brookmere.cli.terminal.failures import tell
from brookmere.cli.top import top
from brookmere.cli.topics import consume, produce, topics

DONE, FAILED = 0, 1
"""Exit codes; 2, for wrong usage, comes from typer."""


class Commands(TyperGroup):
    """The commands, each run so that no failure ends in a stack trace that nobody asked for."""

    def invoke(self, ctx: Any) -> Any:
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # The reader has seen enough, as `| head` does: nothing failed.
            _stop_writing()
            raise typer.Exit(DONE) from None
        except typer.Abort:
            raise
        except Exception as failure:
            # Typer's own exceptions know their exit code; it shows them itself.
            if hasattr(failure, "exit_code"):
                raise
            tell(failure, trace=ctx.params["trace"])
            raise typer.Exit(FAILED) from failure


app = group(
    "Write, run and watch stream programs: the Kafka Streams model on Spark, with embedded topics.",
    cls=Commands,
    epilog="Begin with: brookmere demo",
    pretty_exceptions_enable=False,
)
app.command("run")(run.run)
app.command("check")(check.check)
app.command("describe")(describe.describe)
app.command("reset")(reset.reset)
app.command("top")(top.top)
app.command("query")(query.query)
app.command("serve")(serve.serve)
app.command("replica")(replica.replica)
app.add_typer(topics.app, name="topics")
app.command("produce")(produce.produce)
app.command("consume")(consume.consume)
app.add_typer(kafka.app, name="kafka")
app.add_typer(registry.app, name="registry")
app.command("demo")(demo)
app.command("doctor")(doctor.doctor)


def _print_version(asked: bool) -> None:
    if asked:
        console.write(f"brookmere {version('brookmere')}")
        raise typer.Exit


@app.callback()
def options(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Tell on stderr what is done.")] = False,
    trace: Annotated[bool, typer.Option("--traceback", help="Show the stack trace of a failure.")] = False,  # noqa: ARG001
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    console.show_logs(verbose=verbose)


def main() -> None:
    """Run the command line of this process."""
    try:
        app(prog_name="brookmere")
    finally:
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            _stop_writing()


def _stop_writing() -> None:
    """Let what Python still wants to write to a closed pipe go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
