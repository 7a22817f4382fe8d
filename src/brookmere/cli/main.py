"""The `brookmere` command: its subcommands and global options, and how failures become an exit code."""

from __future__ import annotations

import os
import sys
import traceback
from importlib.metadata import version
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from brookmere.cli import check, describe, reset, run
from brookmere.cli.demo.demo import demo
from brookmere.cli.doctor import doctor
from brookmere.cli.kafka import kafka, registry
from brookmere.cli.options.parameters import group
from brookmere.cli.programs.supervise import INTERRUPTED
from brookmere.cli.query import query
from brookmere.cli.replica import replica, serve
from brookmere.cli.terminal import console
from brookmere.cli.top import top
from brookmere.cli.topics import consume, produce, topics
from brookmere.errors import BrookmereError

DONE, FAILED = 0, 1
"""Exit codes; 2, for wrong usage, comes from typer."""


class Commands(TyperGroup):
    """The commands, with each failure reported in one paragraph, and a stack trace on request only."""

    def invoke(self, ctx: Any) -> Any:
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # The reader closed the pipe, as `| head` does: nothing failed.
            _stop_writing()
            raise typer.Exit(DONE) from None
        except typer.Abort:
            raise
        except Exception as failure:
            # Typer's own exceptions carry an exit code, and typer prints them.
            if hasattr(failure, "exit_code"):
                raise
            _report(failure, trace=ctx.params["trace"])
            raise typer.Exit(FAILED) from failure


app = group(
    "Write, run and watch stream programs: the Kafka Streams model on Spark, with embedded topics or Kafka.",
    cls=Commands,
    epilog="To get started: brookmere demo",
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


def _print_version(requested: bool) -> None:
    if requested:
        console.write(f"brookmere {version('brookmere')}")
        raise typer.Exit


@app.callback()
def options(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log each step to stderr.")] = False,
    trace: Annotated[  # noqa: ARG001
        bool, typer.Option("--traceback", help="Show the stack trace when a command fails.")
    ] = False,
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
    """Discard what Python still flushes to a closed pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report(failure: BaseException, *, trace: bool = False) -> None:
    """Write what failed to stderr, and the stack trace if requested."""
    if trace:
        console.err.file.write("".join(traceback.format_exception(failure)))
    console.err.print(Text.assemble(("Error: ", "bold red"), _paragraph(failure)), soft_wrap=True)


def _paragraph(failure: BaseException) -> str:
    """Return what is wrong, what was found and what to do."""
    if isinstance(failure, BrookmereError):
        return str(failure)
    if isinstance(failure, PermissionError):
        return (
            f"{failure.filename} cannot be accessed: {failure.strerror}.\n"
            "Fix its permissions, or choose another directory: --topics-dir, --state-dir or BROOKMERE_HOME."
        )
    if isinstance(failure, OSError) and failure.filename is not None:
        return f"{failure.filename}: {failure.strerror}."
    words = traceback.format_exception_only(failure)[-1].strip()
    return (
        f"Unexpected error: {words}\n"
        "Run the same command as `brookmere --traceback ...` to see where it failed, and please report it."
    )
