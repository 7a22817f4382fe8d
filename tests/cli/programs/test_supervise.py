"""The first signal requests a stop, a second Ctrl-C ends the process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

PROGRAM = """
import sys, threading
from brookmere.cli.programs.supervise import stop_signals

with stop_signals() as asked:
    print("ready", flush=True)
    asked.wait()
    print("asked", flush=True)
    if len(sys.argv) > 1:
        threading.Event().wait()
"""


STARTING = """
import threading
from brookmere.cli.programs.supervise import start, stop_signals

class Slow:
    def start(self):
        print("ready", flush=True)
        threading.Event().wait()

with stop_signals() as asked:
    start(Slow(), asked, lambda: None)
"""


def start(*arguments: str, program: str = PROGRAM) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_first_signal_requests_a_stop(number: signal.Signals) -> None:
    with start() as process:
        os.kill(process.pid, number)
        assert process.stdout is not None
        assert process.stdout.readline() == "asked\n"

    assert process.returncode == 0


def test_second_ctrl_c_exits_immediately() -> None:
    with start("and wait for ever") as process:
        os.kill(process.pid, signal.SIGINT)
        assert process.stdout is not None
        assert process.stdout.readline() == "asked\n"
        os.kill(process.pid, signal.SIGINT)

    assert process.returncode == 130


def test_ctrl_c_during_start_exits_immediately() -> None:
    with start(program=STARTING) as process:
        os.kill(process.pid, signal.SIGINT)

    assert process.returncode == 130
