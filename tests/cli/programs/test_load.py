"""A program is found by module or file, and loading errors are reported with their location."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from brookmere.cli.programs.load import built, load
from brookmere.dsl.builder import StreamsBuilder
from brookmere.errors import CommandError, TopologyError
from brookmere.topology.nodes import Topology
from tests.cli.conftest import COUNT

TWO = COUNT + 'other = bm.StreamsBuilder("other")\n'


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def refusal(target: str) -> str:
    with pytest.raises(CommandError) as failure:
        load(target)
    return str(failure.value)


@pytest.mark.parametrize(
    ("file", "target"),
    [
        ("clicks.py", "clicks:app"),
        ("clicks.py", "clicks"),
        ("clicks.py", "clicks.py:app"),
        ("clicks.py", "clicks.py"),
        ("shop/clicks.py", "shop.clicks:app"),
        ("shop/clicks.py", "shop/clicks.py:app"),
        ("shop/clicks.py", "./shop/clicks.py"),
    ],
)
def test_program_is_found(folder: Path, file: str, target: str) -> None:
    write(folder / file, COUNT)

    program = load(target)

    assert isinstance(program, StreamsBuilder)
    assert program.application_id == "clicks"


def test_topology_and_function_are_programs_too(folder: Path) -> None:
    write(folder / "made.py", COUNT + "def make():\n    return app.build()\n\nclass Box:\n    inner = app\n")

    assert isinstance(load("made:make"), Topology)
    assert isinstance(load("made:make()"), Topology)
    assert isinstance(load("made:Box.inner"), StreamsBuilder)


def test_program_without_the_dsl_is_a_program(folder: Path) -> None:
    nodes = 'app.add_source("in", "in").add_sink("out", "out", "in")\n'
    write(
        folder / "low.py",
        'import brookmere as bm\napp = bm.TopologyBuilder("low", key=bm.Text(), value=bm.Text())\n' + nodes,
    )

    assert [node.name for node in built(load("low.py")).nodes] == ["in", "out"]


def test_file_finds_its_neighbours(folder: Path) -> None:
    write(folder / "shop" / "names.py", "TOPIC = 'clicks'\n")
    write(folder / "shop" / "main.py", "from names import TOPIC\n" + COUNT)

    assert isinstance(load("shop/main.py:app"), StreamsBuilder)


def test_file_named_like_an_imported_module_does_not_replace_it(folder: Path) -> None:
    write(folder / "json.py", COUNT)
    standard = sys.modules["json"]

    assert isinstance(load("json.py"), StreamsBuilder)

    assert sys.modules["json"] is standard


def test_same_program_under_two_names_is_one(folder: Path) -> None:
    write(folder / "twice.py", COUNT + "again = app\n")

    assert isinstance(load("twice.py"), StreamsBuilder)


def test_unknown_module_names_the_directory_and_the_nearest_file(folder: Path) -> None:
    write(folder / "stock_stats.py", COUNT)

    assert refusal("stok_stats:app") == (
        f"There is no module 'stok_stats'.\nSearched in {folder} and the installed packages.\n"
        "Did you mean stock_stats (the file stock_stats.py)?"
    )


def test_hint_names_the_path_of_a_module_in_a_subfolder(folder: Path) -> None:
    write(folder / "examples" / "stats.py", COUNT)

    assert refusal("stats:app").endswith("There is examples/stats.py: name it by its path.")


def test_unknown_file_names_the_nearest(folder: Path) -> None:
    write(folder / "shop" / "clicks.py", COUNT)

    assert refusal("shop/click.py") == (
        f"There is no file shop/click.py (searched in {folder}).\nDid you mean shop/clicks.py?"
    )


def test_file_hidden_by_another_module_is_named_by_its_path(folder: Path) -> None:
    write(folder / "numbers.py", COUNT)

    for target in ("numbers:app", "numbers"):
        assert refusal(target).endswith("Name the file by its path: ./numbers.py.")
    assert isinstance(load("./numbers.py"), StreamsBuilder)


def test_missing_attribute_names_the_nearest_and_the_programs(folder: Path) -> None:
    write(folder / "clicks.py", COUNT)

    assert refusal("clicks:ap") == (
        "clicks has no 'ap'.\nPrograms found there: app.\nDid you mean clicks:app?"
    )


def test_attribute_that_is_not_a_program_is_refused(folder: Path) -> None:
    write(folder / "clicks.py", COUNT + "port = 8080\n")

    assert refusal("clicks:port") == (
        "clicks:port is a int, not a StreamsBuilder or a Topology.\nPrograms found there: app."
    )


def test_several_programs_ask_which(folder: Path) -> None:
    write(folder / "two.py", TWO)

    assert refusal("two.py") == "two.py contains 2 programs.\nChoose one: two.py:app or two.py:other."


def test_file_without_program_says_how_to_make_one(folder: Path) -> None:
    write(folder / "none.py", "x = 1\n")

    assert refusal("none.py").startswith("none.py contains no program.\nAssign a StreamsBuilder to a name")


def test_missing_import_inside_the_file_names_the_line(folder: Path) -> None:
    write(folder / "clicks.py", "import os\nimport pandaz\n" + COUNT)

    for target in ("clicks:app", "clicks.py"):
        assert refusal(target).startswith("clicks.py:2 imports 'pandaz', but there is no such module.\n")


def test_syntax_error_names_file_line_and_text(folder: Path) -> None:
    write(folder / "clicks.py", "app = = 1\n")

    assert refusal("clicks:app") == "clicks.py:1 is not valid Python: invalid syntax.\n    app = = 1"


def test_exception_names_the_innermost_line_of_the_users_code(folder: Path) -> None:
    write(folder / "helper.py", "import json\n\ndef read():\n    return json.loads('{')\n")
    write(folder / "clicks.py", "import helper\nhelper.read()\n" + COUNT)

    text = refusal("clicks:app")

    assert text.startswith("helper.py:4 failed while it was loaded: json.decoder.JSONDecodeError: ")


def test_exit_of_the_file_does_not_end_the_command(folder: Path) -> None:
    write(folder / "clicks.py", "import sys\nsys.exit(3)\n")

    assert refusal("clicks.py").startswith("clicks.py:2 called sys.exit(3)")


def test_topology_error_of_the_program_is_passed_on(folder: Path) -> None:
    write(folder / "clicks.py", "import brookmere as bm\napp = bm.StreamsBuilder(3)\n")

    with pytest.raises(TopologyError, match=r"clicks\.py:2"):
        load("clicks.py")


@pytest.mark.parametrize("target", ["", ":app", "a:b:c"])
def test_malformed_target_shows_the_expected_form(folder: Path, target: str) -> None:
    assert "Write module:name or path/to/file.py:name" in refusal(target)


def test_file_without_its_extension_is_not_a_module(folder: Path) -> None:
    assert "a file needs its extension: word-count.py" in refusal("word-count")
