"""Replicas of changelogs: begun, stopped, begun again, and what they refuse."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

import brookmere as bm
from brookmere.errors import InstanceError, StateError, StoreNotReadyError, StoreTypeError, UnknownStoreError
from brookmere.state import KeyValueStore, Replica, StoreInfo, WindowStore
from brookmere.state.replica import notes
from brookmere.state.rows.backend import META
from brookmere.state.rows.rocksdb import Files
from brookmere.state.rows.rows import tables_of
from tests.state.worlds import World, totals, until


def pairs(replica: Replica, store: str = "totals") -> dict[str, int]:
    found = replica.store(store, KeyValueStore)
    assert isinstance(found, KeyValueStore)
    return dict(found.all())


@pytest.mark.parametrize("name", [None, "files"], ids=["memory", "files"])
def test_a_replica_follows_its_changelog(world: World, name: str | None) -> None:
    world.create("totals")
    world.put("totals", {"ada": 1, "bob": 2})

    with world.replica(totals(), name=name) as replica:
        world.level(replica["totals"])
        assert pairs(replica) == {"ada": 1, "bob": 2}
        world.put("totals", {"ada": 3, "bob": None, "cyd": 4})
        world.level(replica["totals"])
        assert pairs(replica) == {"ada": 3, "cyd": 4}
        assert (replica["totals"].lag(), replica.is_ready, replica.error) == (0, True, None)


def test_a_replica_in_files_goes_on_where_it_was(world: World) -> None:
    world.create("totals")
    world.put("totals", {"ada": 1, "bob": 2})
    with world.replica(totals(), name="files") as replica:
        position = world.level(replica["totals"]).position()
    world.put("totals", {"ada": None, "cyd": 3})

    with world.replica(totals(), name="files") as replica:
        begun = replica["totals"].stale().position()
        world.level(replica["totals"])
        assert begun.covers(position) or begun == {"totals": {}}
        assert pairs(replica) == {"bob": 2, "cyd": 3}


def test_only_what_is_asked_for_is_followed(world: World) -> None:
    world.create("totals")
    other = StoreInfo("other", "key_value", "other", bm.Text(), bm.Long())
    replica = world.replica(totals(), other)

    world.level(replica["totals"])

    assert [status.name for status in replica.status()] == ["totals"]
    assert (list(replica), len(replica), "other" in replica, "none" in replica) == (
        ["totals", "other"], 2, True, False,
    )  # fmt: skip
    replica.close()


def test_status_tells_how_stores_are(world: World) -> None:
    world.create("totals")
    world.put("totals", {"ada": 1, "bob": 2}, partition=1)

    with world.replica(totals()) as replica:
        world.level(replica["totals"])
        (status,) = replica.status()

    assert (status.is_ready, status.entries, status.lag, status.error) == (True, 2, 0, None)
    assert status.position == {"totals": {0: 0, 1: 2}}
    assert status.bytes > 0
    assert status.checked_at > 0
    assert replica.status()[0].is_ready is False


def test_an_unknown_store_is_refused_with_the_nearest_name(world: World) -> None:
    replica = world.replica(totals())

    with pytest.raises(UnknownStoreError, match="Did you mean 'totals'"):
        replica["total"]
    with pytest.raises(UnknownStoreError, match=r"Found: totals\. Only named stores"):
        replica["windows-of-minutes"]


def test_a_store_of_another_type_is_refused(world: World) -> None:
    world.create("totals")

    with (
        world.replica(totals()) as replica,
        pytest.raises(StoreTypeError, match=r"not a WindowStore.*Request a KeyValueStore"),
    ):
        replica.store("totals", WindowStore)


def test_a_replica_has_a_directory_or_is_in_memory(world: World) -> None:
    with pytest.raises(ValueError, match="in_memory=True"):
        Replica("site", [totals()], world.topics)


def test_a_topic_that_is_not_there_yet_is_waited_for(world: World) -> None:
    with world.replica(totals()) as replica:
        until(lambda: replica.error is not None, "an error that says that the topic is missing")
        with pytest.raises(StoreNotReadyError, match=r"'totals' is not ready.*totals"):
            pairs(replica)

        world.create("totals")
        world.put("totals", {"ada": 1})
        replica["totals"].wait("20s")

        assert (pairs(replica), replica.error) == ({"ada": 1}, None)


def test_waiting_for_a_topic_that_does_not_come_ends(world: World) -> None:
    with world.replica(totals()) as replica, pytest.raises(StoreNotReadyError, match="not ready"):
        replica["totals"].wait("50ms")


@pytest.mark.parametrize("name", [None, "files"], ids=["memory", "files"])
def test_a_closed_replica_answers_no_more(world: World, name: str | None) -> None:
    world.create("totals")
    world.put("totals", {str(number): number for number in range(3000)})
    with world.replica(totals(), name=name) as replica:
        store = world.level(replica["totals"])
        assert isinstance(store, KeyValueStore)
        rows = store.all()
        next(rows)

    with pytest.raises(StoreNotReadyError, match="closed"):
        store.get("1")
    with pytest.raises(StoreNotReadyError, match="closed"):
        store.stale().all()
    with pytest.raises(StoreNotReadyError, match="closed"):
        store.wait("0.1s")
    if name is not None:
        with pytest.raises(StoreNotReadyError, match="closed"):
            list(rows)
    with pytest.raises(StoreNotReadyError, match="closed"):
        replica["totals"].get("1")


def test_a_replica_can_be_closed_twice_and_before_it_began(world: World) -> None:
    replica = world.replica(totals(), name="files")
    replica.close()
    replica.close()

    with pytest.raises(StoreNotReadyError, match="closed"):
        replica["totals"].get("1")


@pytest.mark.parametrize("name", [None, "files"], ids=["memory", "files"])
def test_a_topic_created_anew_while_followed_is_followed_from_its_beginning(
    world: World, name: str | None
) -> None:
    world.create("totals")
    world.put("totals", {"ada": 1, "bob": 2})
    with world.replica(totals(), name=name) as replica:
        world.level(replica["totals"])

        world.topics.delete("totals")
        world.create("totals", 3)
        world.put("totals", {"cyd": 3})

        until(lambda: replica["totals"].is_ready and pairs(replica) == {"cyd": 3}, "the new rows")


def test_a_topic_created_anew_while_stopped_is_followed_from_its_beginning(world: World) -> None:
    world.create("totals")
    world.put("totals", {"ada": 1, "bob": 2})
    with world.replica(totals(), name="files") as replica:
        world.level(replica["totals"])
    world.topics.delete("totals")
    world.create("totals")
    world.put("totals", {"cyd": 3})

    with world.replica(totals(), name="files") as replica:
        world.level(replica["totals"])
        assert pairs(replica) == {"cyd": 3}


def test_a_store_of_another_kind_begins_anew(world: World) -> None:
    world.create("totals")
    world.put("totals", {"ada": 1})
    with world.replica(totals(), name="files") as replica:
        world.level(replica["totals"])
    versioned = StoreInfo("totals", "versioned", "totals", bm.Text(), bm.Long(), retention_ms=1000)

    with world.replica(versioned, name="files") as replica:
        store = world.level(replica["totals"])
        assert dict(store.all()) == {"ada": 1}


def _noted(world: World, **changes: object) -> None:
    """Change what the replica in the directory `files` knows of itself."""
    files = Files(world.home / "files" / "totals", tables_of(totals()))
    found = notes.from_bytes(files.get(META, notes.KEY))
    assert found is not None
    values = {name: getattr(found, name) for name in ("topic", "kind", "positions", "observed", "level_at")}
    files.write({META: {notes.KEY: notes.to_bytes(notes.Notes(**(values | changes)))}})
    files.close()


def test_rows_so_old_that_deletions_may_be_gone_are_read_anew(world: World) -> None:
    topic = world.create("totals", 1, delete_retention_ms=3_600_000)
    world.put("totals", {"ada": 1, "bob": 2})
    with world.replica(totals(), name="files") as replica:
        world.level(replica["totals"])
    # The deletion comes and goes while the replica is away.
    world.put("totals", {"ada": None})
    ends = topic.end_offsets()
    world.topics.delete("totals")
    created = world.create("totals", 1, delete_retention_ms=3_600_000)
    world.put("totals", {"filling": 0, "x": 1, "bob": 2})
    assert created.end_offsets() == ends

    _noted(world, topic=created.id, level_at=1)
    with world.replica(totals(), name="files") as replica:
        world.level(replica["totals"])
        assert pairs(replica) == {"filling": 0, "x": 1, "bob": 2}


def test_rows_of_another_version_are_read_anew(world: World) -> None:
    world.create("totals")
    world.put("totals", {"ada": 1})
    files = Files(world.home / "files" / "totals", tables_of(totals()))
    files.write({"rows": {b"old": b"nonsense"}, META: {notes.KEY: b'{"format": 99}'}})
    files.close()

    with world.replica(totals(), name="files") as replica:
        world.level(replica["totals"])
        assert pairs(replica) == {"ada": 1}


def test_a_replica_that_was_never_level_begins_anew(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "brookmere.state.replica.tail")
    world.create("totals", 1, delete_retention_ms=60_000)
    world.put("totals", {"ada": 1})
    with world.replica(totals(), name="files") as replica:
        world.level(replica["totals"])
    _noted(world, level_at=0)
    world.put("totals", {"bob": 1})

    with world.replica(totals(), name="files") as replica:
        world.level(replica["totals"])
        assert pairs(replica) == {"ada": 1, "bob": 1}
        assert "starts from scratch: it lagged so long" in caplog.text


@pytest.mark.parametrize("name", [None, "files"], ids=["memory", "files"])
def test_compaction_while_followed_takes_nothing_away(world: World, name: str | None) -> None:
    topic = world.create("totals", 1, segment_bytes=16 * 1024, file_delete_delay_ms=0)
    expected: dict[str, int] = {}

    with world.replica(totals(), name=name) as replica:
        for turn in range(8):
            world.put("totals", {f"k{n}": turn * 100 + n for n in range(turn, 60)})
            expected |= {f"k{n}": turn * 100 + n for n in range(turn, 60)}
            world.put("totals", {f"k{turn}": None})
            expected.pop(f"k{turn}")
            topic.maintain(full=True)
        world.level(replica["totals"])
        assert pairs(replica) == expected

    with world.replica(totals(), name=name and "fresh") as replica:
        world.level(replica["totals"])
        assert pairs(replica) == expected


def test_what_retention_deleted_before_it_was_read_is_begun_anew(world: World) -> None:
    topic = world.topics.create(
        "totals", 1, {"retention.bytes": 20_000, "segment.bytes": 16 * 1024, "file.delete.delay.ms": 0}
    )
    world.put("totals", {f"old{n}": n for n in range(10)})
    with world.replica(totals(), name="files") as replica:
        world.level(replica["totals"])
    for turn in range(20):
        world.put("totals", {f"new{turn}-{n}": n for n in range(500)})
    topic.maintain(full=True)
    assert topic.start_offsets()[0] > 10

    with world.replica(totals(), name="files") as replica:
        world.level(replica["totals"])
        found = pairs(replica)
        assert "new19-499" in found
        # It may have changed in one of the records that are gone.
        assert "old0" not in found


def test_records_of_a_tables_own_topic_that_do_not_decode_are_left_out(world: World) -> None:
    topic = world.topics.create("totals", 1)
    world.put("totals", {"ada": 1, "bob": 2})
    bad = [(b"ada", b"too short"), (b"\xff", b"\x00" * 8), (None, b"x")]
    topic.append(bm.Record(key, value, 0) for key, value in bad)
    world.put("totals", {"cyd": 3})

    with world.replica(totals(is_source=True)) as replica:
        world.level(replica["totals"])
        assert pairs(replica) == {"ada": 1, "bob": 2, "cyd": 3}
        assert replica.status()[0].skipped == 2


def test_bytes_that_stand_for_nothing_delete_in_a_tables_own_topic(world: World) -> None:
    topic = world.create("users", 1)
    own = bm.Custom(
        lambda column: column,
        lambda column: column,
        deserialize=lambda data: None if data == b"-" else data,
        name="dashes",
    )
    info = StoreInfo("totals", "key_value", "users", bm.Text(), own, is_source=True)
    topic.append(bm.Record(key, value, 0) for key, value in [(b"a", b"1"), (b"b", b"2"), (b"a", b"-")])

    with world.replica(info) as replica:
        world.level(replica["totals"])
        assert list(pairs(replica)) == ["b"]


_HOLDER = """
import sys
from pathlib import Path
from brookmere.state.rows.rocksdb import Files
files = Files(Path(sys.argv[1]), ("rows", "strays"))
print("open", flush=True)
sys.stdin.read()
"""


def test_two_processes_cannot_have_one_directory(world: World) -> None:
    world.create("totals")
    directory = world.home / "files" / "totals"
    with subprocess.Popen(
        [sys.executable, "-c", _HOLDER, str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "open\n"

        with (
            pytest.raises(InstanceError, match="Give this replica another name"),
            world.replica(totals(), name="files"),
        ):
            pass

        holder.stdin.close()
    with world.replica(totals(), name="files") as replica:
        world.level(replica["totals"])


def test_damaged_files_are_told_and_can_be_deleted(world: World, tmp_path: Path) -> None:
    world.create("totals")
    world.put("totals", {"ada": 1})
    with world.replica(totals(), name="files") as replica:
        world.level(replica["totals"])
    for path in (tmp_path / "files").rglob("MANIFEST-*"):
        path.write_bytes(b"nonsense")

    with pytest.raises(StateError, match=r"files.totals cannot be opened.*Delete the directory"):
        world.replica(totals(), name="files").start()


def test_a_key_in_two_partitions_has_two_rows(world: World) -> None:
    world.create("totals")
    for partition in (0, 1):
        world.put("totals", {"ada": partition}, partition=partition)

    with world.replica(totals()) as replica:
        store = world.level(replica["totals"])
        assert sorted(value for _, value in store.all()) == [0, 1]
        assert store.count() == 2
        world.put("totals", {"ada": None}, partition=0)
        world.level(store)
        assert (store.get("ada"), list(store.all())) == (1, [("ada", 1)])
        world.put("totals", {"ada": None}, partition=1)
        world.level(store)
        assert (store.get("ada"), store.count()) == (None, 0)
