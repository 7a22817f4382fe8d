"""`produce` and `consume` write and show a serde of the user's own, by its import path."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import brookmere as bm
from tests.cli.conftest import Run
from tests.serde.own_serdes import Day, Money

OWN = ["--key-serde", "tests.serde.own_serdes:Day", "--value-serde", "tests.serde.own_serdes:CENTS"]


def records(folder: Path) -> list[tuple[bytes | None, bytes | None]]:
    topic = bm.Topics(folder / ".brookmere" / "topics")["sales"]
    return [(record.key, record.value) for record in topic.read(0)]


def test_lines_are_written_with_it(run: Run, folder: Path) -> None:
    made = run(
        "produce", "sales", "--create", "--key-separator", "=", *OWN, stdin="2024-02-29=12.50\n"
    )  # fmt: skip

    assert made.exit_code == 0, made.stderr
    assert records(folder) == [(Day().serialize(date(2024, 2, 29)), Money().serialize(Decimal("12.50")))]


def test_what_json_shows_can_be_written_again(run: Run, folder: Path) -> None:
    run("produce", "sales", "--create", "--key-separator", "=", *OWN, stdin="2024-02-29=12.50\n")

    shown = run("consume", "sales", "--format", "json", *OWN)

    assert '"key": "2024-02-29", "value": "12.50"' in shown.stdout
    again = run("produce", "sales", "--format", "json", *OWN, stdin=shown.stdout)
    assert again.exit_code == 0, again.stderr
    first, second = records(folder)
    assert first == second


def test_line_that_does_not_fit_is_explained(run: Run) -> None:
    made = run("produce", "sales", "--create", *OWN, stdin="12.505\n")

    assert made.exit_code == 1
    assert "its value is not an amount such as 12.50 (12.505 has more than 2 digits" in made.stderr


def test_serde_that_cannot_be_imported_is_explained(run: Run) -> None:
    made = run("produce", "sales", "--create", "--value-serde", "shop.serdes:Money", stdin="1\n")

    assert made.exit_code == 1
    assert "The serde 'shop.serdes:Money' cannot be imported" in made.stderr


def test_unknown_format_suggests_the_nearest(run: Run) -> None:
    made = run("produce", "sales", "--create", "--value-serde", "lng", stdin="1\n")

    assert made.exit_code == 1
    assert "There is no format 'lng'.\nDid you mean 'long'?" in made.stderr
