"""The word count counts."""

from __future__ import annotations

import brookmere as bm
from brookmere.testing import TopologyTestDriver
from examples.word_count import app


def test_each_word_is_counted_whatever_its_case() -> None:
    with TopologyTestDriver(app) as driver:
        driver.input_topic("lines").pipe_values(["Brooks and streams", "and Streams"])

        assert driver.output_topic("word-counts").read_key_values_to_list() == [
            ("brooks", 1),
            ("and", 1),
            ("streams", 1),
            ("and", 2),
            ("streams", 2),
        ]


def test_spaces_and_empty_lines_are_not_words() -> None:
    with TopologyTestDriver(app) as driver:
        driver.input_topic("lines").pipe_values(["  brooks \t and  ", "", None])

        assert driver.output_topic("word-counts").read_key_values_to_list() == [("brooks", 1), ("and", 1)]


def test_counts_are_written_in_kafkas_format() -> None:
    with TopologyTestDriver(app) as driver:
        driver.input_topic("lines").pipe_input("brook")

        raw = driver.output_topic("word-counts", key=bm.Bytes(), value=bm.Bytes()).read_record()
        assert (raw.key, raw.value) == (b"brook", bytes(7) + b"\x01")
