"""The Mermaid form."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.topology.programs import any_function, builder, word_count

EXPECTED = Path(__file__).parent / "expected"


def test_word_count_as_flow_chart(expect_text: Callable[[Path, str], None]) -> None:
    expect_text(EXPECTED / "word_count.mmd", word_count().build().to_mermaid())


def test_text_that_would_end_a_label_is_escaped() -> None:
    app = builder()
    app.stream(re.compile('a"<b>')).to(any_function, router_name="<router>")

    chart = app.build().to_mermaid()

    assert "a&quot;&lt;b&gt;" in chart
    assert "&lt;router&gt;" in chart


def test_store_is_linked_to_each_of_its_users() -> None:
    app = builder()
    one, two = app.stream("a").group_by_key(), app.stream("b").group_by_key()
    one.cogroup(any_function).cogroup(two, any_function).aggregate("", store="both")

    chart = app.build().to_mermaid()

    assert chart.count('s0[("both")]') == 1
    assert chart.count("--- s0") == 2
