"""A page is worked through as a reader would, and a difference to what it shows is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.console_blocks import work_through


def page(directory: Path, text: str) -> Path:
    file = directory / "page.md"
    file.write_text(text)
    return file


def test_part_of_an_example_must_be_in_its_file(tmp_path: Path) -> None:
    part = '```python\n# examples/word_count.py\napp = bm.StreamsBuilder("word-count")\n```\n'
    work_through(page(tmp_path, part), tmp_path)
    (tmp_path / "examples").unlink()

    with pytest.raises(AssertionError, match="no such part"):
        work_through(page(tmp_path, part.replace("word-count", "words")), tmp_path)


def test_command_in_the_background_is_waited_for_and_ends_with_the_page(tmp_path: Path) -> None:
    text = """\
```console
$ bash -c 'trap "echo ended > end.txt; exit" TERM; echo ready; while true; do read -t 0.05 <> <(:); done' &
ready
$ echo typed
typed
```
"""
    work_through(page(tmp_path, text), tmp_path)

    assert (tmp_path / "end.txt").read_text() == "ended\n"


def test_what_is_printed_otherwise_is_told(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="but the page shows"):
        work_through(page(tmp_path, "```console\n$ echo one\ntwo\n```\n"), tmp_path)


def test_curl_asks_again_until_the_answer_is_there(tmp_path: Path) -> None:
    text = """\
```console
$ python -u -m http.server --bind 127.0.0.1 $(echo :7000 | tr -d :) &
Serving HTTP on 127.0.0.1 port...
$ (until grep -q GET said-*.txt; do read -t 0.05 <> <(:); done; echo there > answer.txt) &>/dev/null & true
$ curl -s http://127.0.0.1:7000/answer.txt
there
```
"""
    work_through(page(tmp_path, text), tmp_path)
