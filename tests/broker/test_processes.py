"""A process is identified by its pid and start time."""

from __future__ import annotations

import signal
import subprocess

from brookmere.broker.processes import ProcessIdentity, identify


def test_process_is_alive_until_it_ends() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        identity = identify(process.pid)
        assert identity is not None
        assert identity.alive

        # Its exit code has not been collected yet, but it has ended.
        identity.signal(signal.SIGKILL)
        assert identity.wait(30)

    assert identify(process.pid) is None


def test_same_pid_at_another_time_is_another_process() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        stranger = ProcessIdentity(process.pid, "long ago")

        stranger.signal(signal.SIGKILL)

        assert not stranger.alive
        assert process.poll() is None
        process.kill()


def test_wait_gives_up_at_its_deadline() -> None:
    with subprocess.Popen(["sleep", "60"]) as process:
        identity = identify(process.pid)

        assert identity is not None
        assert not identity.wait(0.01)
        process.kill()
