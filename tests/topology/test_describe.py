"""The text form, in Kafka Streams' words. More of it is compared by the conformance scenarios."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import brookmere as bm
from tests.topology.programs import any_function, builder, word_count

EXPECTED = Path(__file__).parent / "expected"


def lines(app: bm.StreamsBuilder) -> list[str]:
    return [line.strip() for line in app.build().describe().splitlines()]


def test_word_count_is_described(expect_text: Callable[[Path, str], None]) -> None:
    expect_text(EXPECTED / "word_count.txt", word_count().build().describe())


def test_global_table_generates_no_tasks() -> None:
    app = builder()
    app.global_table("countries", store="by-code")

    assert app.build().describe() == (
        "Topologies:\n"
        "   Sub-topology: 0 for global store (will not generate tasks)\n"
        "    Source: KSTREAM-SOURCE-0000000000 (topics: [countries])\n"
        "      --> KTABLE-SOURCE-0000000001\n"
        "    Processor: KTABLE-SOURCE-0000000001 (stores: [by-code])\n"
        "      --> none\n"
        "      <-- KSTREAM-SOURCE-0000000000\n"
    )


def test_pattern_stands_in_place_of_topics() -> None:
    app = builder()
    app.stream(re.compile("orders-.*"))

    assert "Source: KSTREAM-SOURCE-0000000000 (topics: orders-.*)" in lines(app)


def test_topics_stand_in_the_order_of_a_java_set() -> None:
    app = builder()
    app.stream(["m0a", "m0b", "topic-0"])

    assert "Source: KSTREAM-SOURCE-0000000000 (topics: [topic-0, m0b, m0a])" in lines(app)


def test_router_is_shown_by_its_given_name() -> None:
    app = builder()
    app.stream("in").to(any_function, router_name="Router")

    assert "Sink: KSTREAM-SINK-0000000001 (extractor class: Router)" in lines(app)


def test_router_is_shown_by_the_name_of_its_function() -> None:
    app = builder()
    app.stream("in").to(any_function)

    assert "Sink: KSTREAM-SINK-0000000001 (extractor class: any_function)" in lines(app)


def test_child_with_more_behind_it_stands_first() -> None:
    app = builder()
    source = app.stream("in")
    source.to("out")
    source.filter(any_function).peek(any_function).to("other")

    assert "--> KSTREAM-FILTER-0000000002, KSTREAM-SINK-0000000001" in lines(app)


def test_long_row_of_forks_is_described_quickly() -> None:
    app = builder()
    stream = app.stream("in")
    for _ in range(40):
        stream = stream.filter(any_function).merge(stream.filter_not(any_function))
    stream.to("out")

    assert app.build().describe().count("KSTREAM-MERGE-") > 100
