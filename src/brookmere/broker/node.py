"""One node of a Kafka: its directory and its process."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from brookmere.broker.layout import CLIENTS, NodeLayout
from brookmere.broker.processes import ProcessIdentity, identify
from brookmere.kernel.cache import write_atomically

_SHOWN_LINES = 12
_KILL_SECONDS = 10.0

# Becomes Java. A background shell waits for a line of input; if the input ends without one, the process that
# started this is gone, for whatever reason, and Java is killed as well.
_TIED = 'exec 3<&0 </dev/null; ( read -r _ <&3 || kill -9 $$ ) & exec "$@" 3<&-'


class Node:
    """One broker, which is a controller as well: its directory and its process."""

    def __init__(self, kafka: Path, layout: NodeLayout, *, tied: bool) -> None:
        self.directory = kafka / f"node-{layout.id}"
        self.layout = layout
        self._tied = tied
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def id(self) -> int:
        """The number of the node, from 1."""
        return self.layout.id

    @property
    def port(self) -> int:
        """The port for clients."""
        return self.layout.ports[CLIENTS]

    @property
    def data(self) -> Path:
        """The directory of its topics."""
        return self.directory / "data"

    @property
    def settings(self) -> Path:
        """Its server.properties."""
        return self.directory / "server.properties"

    @property
    def log_settings(self) -> Path:
        """Its logging configuration."""
        return self.directory / "log4j2.properties"

    @property
    def log(self) -> Path:
        """Its log."""
        return self.directory / "server.log"

    @property
    def identity(self) -> ProcessIdentity | None:
        """The process of this node if it is running, whoever started it."""
        if self._process is not None:
            self._process.poll()
        try:
            found = json.loads(self._pid_file.read_text())
            identity = ProcessIdentity(int(found["pid"]), str(found["started"]))
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None
        return identity if identity.alive else None

    @property
    def running(self) -> bool:
        """Whether the process is running; it may not be ready yet."""
        return self.identity is not None

    def spawn(self, command: Sequence[str]) -> None:
        """Start the process, which outlives this one unless it is tied to it."""
        self._close()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _TIED, "sh", *command] if self._tied else list(command),
                stdin=subprocess.PIPE if self._tied else subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        identity = identify(self._process.pid)
        if identity is not None:
            content = {"pid": identity.pid, "started": identity.started}
            write_atomically(self._pid_file, json.dumps(content).encode())

    def request_stop(self) -> None:
        """Ask the process to stop."""
        if (identity := self.identity) is not None:
            identity.signal(signal.SIGTERM)

    def stop(self, seconds: float) -> None:
        """Stop the process, and kill it if that takes longer than `seconds`."""
        self.request_stop()
        if (identity := self.identity) is not None:
            identity.wait(seconds)
        self.kill()

    def kill(self) -> None:
        """Kill the process, as a crash would."""
        if (identity := self.identity) is not None:
            identity.signal(signal.SIGKILL)
            identity.wait(_KILL_SECONDS)
        self._close()
        self._pid_file.unlink(missing_ok=True)

    def last_words(self) -> str:
        """Return the end of its log."""
        if not self.log.exists():
            return "nothing was logged"
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-_SHOWN_LINES:]) or "nothing was logged"

    @property
    def _pid_file(self) -> Path:
        return self.directory / "process.json"

    def _close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            # This line means: do not kill. Its reader may already be gone.
            with suppress(BrokenPipeError):
                process.stdin.write(b"\n")
                process.stdin.flush()
            with suppress(BrokenPipeError):
                process.stdin.close()
        process.wait()
