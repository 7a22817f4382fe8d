"""The commands on topics list, create, describe, delete, clean and repair."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import brookmere as bm
from tests.cli.conftest import Run, Spawn


@pytest.fixture
def topics(folder: Path) -> bm.Topics:
    """The topics that the commands find when no directory is named."""
    return bm.Topics(folder / ".brookmere" / "topics")


def fill(topics: bm.Topics, name: str, count: int, partitions: int = 1) -> None:
    topic = topics.create(name, partitions)
    topic.append([bm.Record(b"k%d" % n, b"v", 1_700_000_000_000 + n) for n in range(count)])


def test_list_shows_what_topics_hold(run: Run, topics: bm.Topics) -> None:
    fill(topics, "orders", 1234, partitions=2)
    topics.create("empty", config={"cleanup.policy": "compact"})

    shown = run("topics", "list")

    title, empty, orders = shown.stdout.splitlines()
    assert " ".join(title.split()) == "TOPIC PARTITIONS RECORDS SIZE LAST RECORD (UTC) CLEANUP"
    assert empty.split() == ["empty", "1", "0", "0", "B", "-", "compact"]
    assert orders.split()[:3] == ["orders", "2", "1,234"]
    assert "2023-11-14 22:13:21.233" in orders


def test_list_prints_json(run: Run, topics: bm.Topics) -> None:
    fill(topics, "orders", 3)

    (orders,) = json.loads(run("topics", "list", "--json").stdout)

    assert (orders["name"], orders["partitions"], orders["records"]) == ("orders", 1, 3)
    assert orders["last_timestamp"] == 1_700_000_000_002


def test_list_without_topics_says_where_it_looked(run: Run, topics: bm.Topics) -> None:
    shown = run("topics", "list")

    assert (shown.exit_code, shown.stdout) == (0, "")
    assert f"There are no topics in {topics.directory}" in shown.stderr
    assert run("topics", "list", "--json").stdout == "[]\n"


def test_directory_can_be_named(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("topics", "create", "a", "--topics-dir", "elsewhere").exit_code == 0
    assert bm.Topics(folder / "elsewhere").names() == ["a"]

    monkeypatch.setenv("BROOKMERE_HOME", str(folder / "home"))
    assert run("topics", "create", "b").exit_code == 0
    assert bm.Topics(folder / "home" / "topics").names() == ["b"]


def test_create_takes_partitions_and_settings(run: Run, topics: bm.Topics) -> None:
    shown = run(
        "topics", "create", "a", "b", "-p", "3", "-c", "cleanup.policy=compact", "-c", "retention.ms=9"
    )

    assert shown.exit_code == 0, shown.stderr
    assert "Topic a created: 3 partitions" in shown.stderr
    assert [topics[name].partitions for name in topics] == [3, 3]
    assert topics["b"].config.cleanup_policy == "compact"
    assert topics["b"].config.retention_ms == 9


def test_creating_an_existing_topic_is_refused_unless_allowed(run: Run, topics: bm.Topics) -> None:
    topics.create("a", 2)

    refused = run("topics", "create", "a")
    left = run("topics", "create", "a", "--if-not-exists")

    assert refused.exit_code == 1
    assert "The topic 'a' already exists" in refused.stderr
    assert left.exit_code == 0
    assert "Topic a already exists: 2 partitions" in left.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a/b"], "'a/b' is not a valid topic name"),
        (["a", "-c", "retention.sm=1"], "Did you mean retention.ms?"),
        (["a", "-c", "retention.ms"], "--config expects a setting and its value, found 'retention.ms'"),
    ],
)
def test_create_explains_what_is_wrong(run: Run, arguments: list[str], words: str) -> None:
    shown = run("topics", "create", *arguments)

    assert shown.exit_code == 1
    assert words in shown.stderr


def test_create_without_partitions_is_wrong_usage(run: Run) -> None:
    assert run("topics", "create", "a", "-p", "0").exit_code == 2


def test_describe_shows_partitions_settings_and_writers(run: Run, topics: bm.Topics) -> None:
    fill(topics, "orders", 10, partitions=2)

    text = run("topics", "describe", "orders").stdout
    detail = json.loads(run("topics", "describe", "orders", "--json").stdout)

    assert f"Topic orders in {topics['orders'].directory}\n10 records, " in text
    assert "cleanup.policy" in text
    assert [part["partition"] for part in detail["partitions"]] == [0, 1]
    assert sum(part["records"] for part in detail["partitions"]) == 10
    assert detail["config"]["retention.ms"] == -1
    assert detail["writers"] == {}


def test_missing_topic_names_the_nearest_and_the_way_to_create_it(run: Run, topics: bm.Topics) -> None:
    topics.create("orders")

    for command in (
        ["topics", "describe"],
        ["topics", "delete"],
        ["consume"],
        ["produce"],
        ["topics", "clean"],
    ):
        shown = run(*command, "order")

        assert shown.exit_code == 1
        assert shown.stderr.startswith("Error: There is no topic 'order' in ")
        assert "Did you mean 'orders'?" in shown.stderr
        assert "`brookmere topics create order` creates it" in shown.stderr


def test_delete_asks_for_confirmation(run: Run, topics: bm.Topics) -> None:
    fill(topics, "orders", 1500)

    kept = run("topics", "delete", "orders", stdin="n\n")
    assert kept.exit_code == 1
    assert "Delete the topic orders with 1,500 records?" in kept.stderr
    assert "orders" in topics

    nobody_answers = run("topics", "delete", "orders", stdin="")
    assert nobody_answers.exit_code == 1
    assert "orders" in topics

    assert run("topics", "delete", "orders", stdin="y\n").exit_code == 0
    assert "orders" not in topics


def test_delete_with_yes_does_not_ask_and_deletes_all_or_none(run: Run, topics: bm.Topics) -> None:
    topics.create("a")
    topics.create("b")

    assert run("topics", "delete", "a", "c", "--yes").exit_code == 1
    assert topics.names() == ["a", "b"]

    assert run("topics", "delete", "a", "b", "--yes").exit_code == 0
    assert topics.names() == []


def test_clean_compacts(run: Run, topics: bm.Topics) -> None:
    topic = topics.create("table", config={"cleanup.policy": "compact"})
    for n in range(3):
        topic.append([bm.Record(b"k", b"%d" % n, n)])

    shown = run("topics", "clean", "--full")

    assert shown.exit_code == 0
    assert "Topic table: 0 records expired, 2 compacted" in shown.stderr
    assert [record.value for record in topic.read(0)] == [b"2"]


def test_repair_reports_damage_and_removes_it_with_execute(run: Run, topics: bm.Topics) -> None:
    fill(topics, "orders", 5)
    topics["orders"].append([bm.Record(b"good", b"v", 0)])
    segment = min(
        (topics["orders"].directory / "segments").glob("*.arrow"), key=lambda file: -file.stat().st_size
    )
    damaged = bytearray(segment.read_bytes())
    damaged[200] ^= 0xFF
    segment.write_bytes(damaged)

    reported = run("topics", "repair", "orders")
    assert reported.exit_code == 1
    assert str(segment) in reported.stdout
    assert "discards 5 records" in reported.stderr

    assert run("topics", "repair", "orders", "--execute").exit_code == 0
    assert [record.key for record in topics["orders"].read(0)] == [b"good"]
    assert run("topics", "repair", "orders").exit_code == 0


def test_unwritable_directory_is_reported_in_one_paragraph(spawn: Spawn, folder: Path) -> None:
    # A file in the way refuses everyone, root included.
    (folder / "file").touch()

    shown = spawn("topics", "create", "a", "--topics-dir", "file/topics")

    assert shown.returncode == 1
    assert shown.stderr.startswith("Error: ")
    assert f"{folder}/file" in shown.stderr
    assert "Traceback" not in shown.stderr


def test_commands_on_topics_do_not_load_spark(folder: Path) -> None:
    program = (
        "import sys\nfrom brookmere.cli.main import app\n"
        "for command in (['topics', 'list'], ['produce', 'a', '--create', 'file'], ['consume', 'a']):\n"
        "    try:\n        app(command)\n"
        "    except SystemExit as ended:\n        assert ended.code == 0\n"
        "assert 'pyspark' not in sys.modules and 'py4j' not in sys.modules\n"
    )
    (folder / "file").write_text("hello\n")

    outcome = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert outcome.returncode == 0, outcome.stderr
    assert "hello" in outcome.stdout
