"""Properties files are read as Java reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from brookmere.config.properties import read_properties
from brookmere.errors import ConfigError

TEXT = """\
# a comment
! another one

plain=value
  indented   =   value with spaces \n\
colon:value
space value
first.equals = a=b:c
empty=
alone
continued = one, \\
    two, \\
    three
not.continued = back\\\\
after\\ space = x
escaped\\:name = tab\\there, \\u00e9, \\q
twice = 1
twice = 2
# a comment does not go on \\
last = end"""

EXPECTED = {
    "plain": ("value", 4),
    "indented": ("value with spaces ", 5),
    "colon": ("value", 6),
    "space": ("value", 7),
    "first.equals": ("a=b:c", 8),
    "empty": ("", 9),
    "alone": ("", 10),
    "continued": ("one, two, three", 11),
    "not.continued": ("back\\", 14),
    "after space": ("x", 15),
    "escaped:name": ("tab\there, \u00e9, q", 16),
    "twice": ("2", 18),
    "last": ("end", 20),
}


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_names_and_values_are_found_with_their_lines(tmp_path: Path, ending: str) -> None:
    file = tmp_path / "app.properties"
    file.write_bytes(TEXT.replace("\n", ending).encode())

    assert read_properties(file) == EXPECTED


def test_continuation_at_the_end_of_the_file_ends_there(tmp_path: Path) -> None:
    file = tmp_path / "app.properties"
    file.write_text("a = b\\\n")

    assert read_properties(file) == {"a": ("b", 1)}


def test_missing_file_is_reported_with_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read_properties(tmp_path / "none.properties")

    assert "none.properties cannot be read: No such file or directory. Name a properties file" in str(
        caught.value
    )


def test_file_that_is_not_text_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "app.properties"
    file.write_bytes(b"a=\xff")

    with pytest.raises(ConfigError, match="byte 2 is not UTF-8"):
        read_properties(file)
