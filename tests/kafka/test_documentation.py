"""The commands of docs/reference/kafka.md work on a real Kafka and print what the page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from brookmere.broker import Broker
from brookmere.broker.layout import new_layout
from brookmere.broker.ports import free_port
from brookmere.broker.properties import server_properties
from tests.docs.console_blocks import work_through

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "kafka.md"


def test_commands_of_the_page_print_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BROOKMERE_HOME", raising=False)
    # Only the port differs: that of the page may be taken.
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text().replace("9092", str(free_port())))

    try:
        work_through(page, tmp_path)
    finally:
        Broker(tmp_path / ".brookmere" / "kafka").kill()


def test_settings_of_the_page_are_those_of_the_broker() -> None:
    layout = new_layout("4.3.1", 1).with_ports(None, [])
    text = server_properties(layout, layout.nodes[0], Path("data"), {}, {})
    real = dict(line.split("=", 1) for line in text.splitlines())

    table = PAGE.read_text().partition("| setting | value | reason |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`[a-z.`, ]+`)[^|]*\| (\S+) \|", table, re.MULTILINE)

    assert len(rows) >= 4
    for names, value in rows:
        for name in re.findall(r"`([a-z.]+)`", names):
            assert real[name] == value, name
