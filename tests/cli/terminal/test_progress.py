"""Progress is shown live, as plain lines or as JSON."""

from __future__ import annotations

import io
import json
import math
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from brookmere.cli.terminal import console
from brookmere.cli.terminal.progress import JsonView, LiveView, PlainView, View, progress_text
from brookmere.run.progress import Progress


def progress(batch: int, records: int = 1000) -> Progress:
    return Progress(
        batch=batch,
        started=datetime(2025, 1, 31, tzinfo=UTC),
        duration=timedelta(milliseconds=1234),
        records=records,
        total_records=records * (batch + 1),
        records_per_second=4567.8,
        lag=12_000,
        state_bytes=1_400_000,
        skipped=3,
        nodes={},
        phases={},
    )


def test_progress_line_has_all_figures() -> None:
    assert progress_text(progress(7)) == (
        "batch 7 · 4,568 records/s · 1,234 ms per batch · lag 12,000 · state 1.4 MB"
    )


def test_plain_view_shows_states_and_not_every_batch(capsys: pytest.CaptureFixture[str]) -> None:
    view = PlainView("words")

    view.show("starting", None, [])
    view.show("running", None, [])
    view.show("running", None, [progress(0)])
    view.next_line = math.inf
    view.show("running", None, [progress(1)])
    view.next_line = 0.0
    view.show("running", None, [progress(2), progress(3)])
    view.show("stopped", None, [progress(4)])

    lines = [line.partition(" · 4,568")[0] for line in capsys.readouterr().err.splitlines()]
    assert lines == [
        "words: starting",
        "words: running",
        "words: 1,000 records · 3 skipped · batch 0",
        "words: 4,000 records · 3 skipped · batch 3",
        "words: 5,000 records · 3 skipped · batch 4",
        "words: stopped",
    ]


def test_json_view_shows_every_batch(capsys: pytest.CaptureFixture[str]) -> None:
    JsonView().show("running", None, [progress(0), progress(1)])

    first, second = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (first["batch"], second["batch"]) == (0, 1)
    assert first["started"] == "2025-01-31T00:00:00+00:00"
    assert first["duration_ms"] == 1234


def test_quiet_view_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    View().show("running", progress(0), [progress(0)])

    assert capsys.readouterr() == ("", "")


def test_live_view_ends_with_the_last_state(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Console(file=io.StringIO(), force_terminal=True, width=100, highlight=False)
    monkeypatch.setattr(console, "err", terminal)
    view = LiveView("words")

    with view.screen():
        view.show("running", progress(0), [progress(0)])
        view.show("stopped", progress(1), [progress(1)])

    assert isinstance(terminal.file, io.StringIO)
    end = terminal.file.getvalue().rpartition("words")[2]
    assert "stopped · 0:00:0" in end
    assert "2,000 records · 3 skipped" in end
    assert "batch 1 · 4,568 records/s" in end
