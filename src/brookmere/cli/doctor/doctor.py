"""The `brookmere doctor` command."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.text import Text

from brookmere.cli.doctor.checks import Finding, check_all, check_kernel
from brookmere.cli.terminal import console
from brookmere.errors import EngineError
from brookmere.kernel.build import kernel_jar

_MARKS = {"ok": ("ok", "green"), "warning": ("note", "yellow"), "wrong": ("wrong", "bold red")}


def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Compile the kernel now if it is not compiled.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Check this machine, and show how to fix what is wrong.

    Checks Python, Java, Spark, PyArrow, the kernel, the jars for Kafka, the directories and their free space,
    and the memory. The exit code is 1 if anything is wrong.

    \b
    Example:
      brookmere doctor --fix
    """
    findings = check_all()
    if fix and any(finding.name == "kernel" and finding.state == "warning" for finding in findings):
        console.say("Compiling the kernel; this takes up to a minute.")
        try:
            kernel_jar()
        except EngineError as failure:
            repaired = Finding("kernel", "wrong", "it does not compile", str(failure))
        else:
            repaired = check_kernel()
        findings = [repaired if finding.name == "kernel" else finding for finding in findings]
    if as_json:
        console.write_json([asdict(finding) for finding in findings])
    else:
        _show(findings)
    if any(finding.state == "wrong" for finding in findings):
        raise typer.Exit(1)


def _show(findings: list[Finding]) -> None:
    for finding in findings:
        mark, style = _MARKS[finding.state]
        line = Text.assemble((f"{mark:<6}", style), f"{finding.name:<16}", finding.found)
        console.out.print(line, soft_wrap=True)
        if finding.remedy is not None:
            console.out.print(Text(f"{'':<22}{finding.remedy}", style=style), soft_wrap=True)
    wrong = sum(finding.state == "wrong" for finding in findings)
    words = "All checks passed." if not wrong else f"{wrong} of {len(findings)} checks failed."
    console.out.print(Text(f"\n{words}", style="bold"))
