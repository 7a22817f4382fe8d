"""The message of a JVM exception, in words for the user."""

from __future__ import annotations

import pytest

from brookmere.run.query.outputs import plain_words

PERMISSIVE = (
    "Parse Mode: FAILFAST. To process malformed records as null result, "
    "try setting the option 'mode' as 'PERMISSIVE'."
)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("[DIVIDE_BY_ZERO] Division by zero. SQLSTATE: 22012", "[DIVIDE_BY_ZERO] Division by zero."),
        (
            '[X] Division by zero. SQLSTATE: 22012\n== DataFrame ==\n"div" was called from\nx.py:1\n',
            "[X] Division by zero.",
        ),
        ("[USER_RAISED_EXCEPTION] value.a is null or absent SQLSTATE: P0001", "value.a is null or absent"),
        (
            f"[X] Malformed: [].\n{PERMISSIVE} Arrays are forbidden.",
            "[X] Malformed: []. Arrays are forbidden.",
        ),
        (
            "Unexpected end-of-input\n at [Source: REDACTED (`X` disabled); line: 1, column: 7]",
            "Unexpected end-of-input",
        ),
        ("nothing to leave out", "nothing to leave out"),
        ("null", "null"),
    ],
)
def test_advice_for_writers_of_sql_is_left_out(message: str, words: str) -> None:
    assert plain_words(message) == words
