"""A full disk refuses an append in one clear error, harms nothing, and takes appends again later."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.topics.conftest import Start

PROGRAM = """
    import os, resource, sys
    from pathlib import Path
    import brookmere as bm
    from brookmere.topics import Writer

    directory, way = Path(sys.argv[1]), sys.argv[2]
    filler = directory / "filler"

    def leave_no_room():
        if way == "limit":
            resource.setrlimit(resource.RLIMIT_FSIZE, (12_000, resource.RLIM_INFINITY))
        else:
            with filler.open("wb", buffering=0) as file:
                try:
                    while file.write(b"x" * 4096):
                        pass
                except OSError:
                    pass

    def make_room():
        if way == "limit":
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        else:
            filler.unlink()

    def content():
        return [record.value for record in topic.read(0)]

    def files():
        return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path != filler)

    topics = bm.Topics(directory / "topics")
    topic = topics.create("t")
    big = [bm.Record(b"k", os.urandom(1000), 1) for _ in range(50)]
    for number in range(20):
        topic.append([bm.Record(b"k", b"%d" % number, 1)])
    before, kept = content(), files()
    leave_no_room()

    for _ in range(3):
        try:
            topic.append(big, writer=Writer("app", "query", 1))
        except bm.errors.TopicError as error:
            assert "the disk is full at" in str(error), error
            assert "earlier records are intact" in str(error), error
        else:
            raise SystemExit("no error")
    assert content() == before
    assert files() == kept, (files(), kept)

    producer = topics.producer("t")
    for record in big:
        producer.send(record.key, record.value)
    try:
        producer.flush()
    except bm.errors.TopicError as error:
        assert "the disk is full at" in str(error), error
    else:
        raise SystemExit("no error")

    if way == "tmpfs":
        for use in (lambda: topics.create("u"), lambda: topic.maintain(full=True)):
            try:
                use()
            except bm.errors.TopicError as error:
                assert "the disk is full at" in str(error), error
            else:
                raise SystemExit("no error")
        assert topics.names() == ["t"]
        assert files() == sorted({*kept, "topics/t/maintenance.lock"}), files()
    assert topics["t"].repair().damages == ()
    assert content() == before

    make_room()
    producer.close()
    assert topic.append(big, writer=Writer("app", "query", 1)).records == 50
    assert content() == before + 2 * [record.value for record in big]
    topic.maintain(full=True)
    assert len(content()) == 120
    print("passed", flush=True)
"""


def in_a_small_disk(directory: Path) -> list[str]:
    mount = f"mount -t tmpfs -o size=512k tmpfs {directory}"
    return ["unshare", "--map-root-user", "--mount", "sh", "-c", f'{mount} && exec "$@"', "sh"]


def can_mount(directory: Path) -> bool:
    try:
        return subprocess.run([*in_a_small_disk(directory), "true"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("way", ["limit", "tmpfs"])
def test_a_full_disk_loses_nothing(tmp_path: Path, way: str) -> None:
    # Where a user may not mount a small disk, the limit on file sizes replaces it.
    small_disk = in_a_small_disk(tmp_path) if way == "tmpfs" and can_mount(tmp_path) else []
    words = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(tmp_path), way if small_disk else "limit"]

    done = subprocess.run([*small_disk, *words], capture_output=True, text=True, timeout=120)

    assert done.stdout == "passed\n", done.stderr
    assert done.stderr == ""


def test_without_write_permission_reads_work_and_writes_explain_the_failure(start: Start) -> None:
    program = """
        import os, sys, tempfile
        from pathlib import Path
        import brookmere as bm

        directory = Path(tempfile.mkdtemp())
        topics = bm.Topics(directory / "topics")
        topic = topics.create("t")
        topic.append([bm.Record(b"k", b"v", 1)])
        places = [directory, *(path for path in directory.rglob("*"))]
        for path in places:
            path.chmod(0o555 if path.is_dir() else 0o444)
        if os.getuid() == 0:
            # Root may write anywhere; a child of another user may not.
            if os.fork() == 0:
                os.setuid(65534)
            else:
                os.wait()
                sys.exit()

        assert [record.value for record in topics["t"].read(0)] == [b"v"]
        for use in (
            lambda: topic.append([bm.Record(b"k", b"v", 1)]),
            lambda: topic.maintain(),
            lambda: topics.create("u"),
            lambda: topics.delete("t"),
        ):
            try:
                use()
            except bm.errors.TopicError as error:
                assert "permission denied for" in str(error), error
            else:
                sys.exit("no error")
        assert [record.value for record in topics["t"].read(0)] == [b"v"]
        print("passed", directory, flush=True)
    """
    process = start(program)
    assert process.stdout

    word, _, directory = process.stdout.readline().strip().partition(" ")

    assert word == "passed"
    assert process.wait(60) == 0
    for path in [Path(directory), *Path(directory).rglob("*")]:
        path.chmod(0o700)
