"""Names and options that do not exist are refused with the nearest that does."""

from __future__ import annotations

from typing import Any

import pytest

import brookmere as bm
from brookmere.testing import TopologyTestDriver

pytestmark = pytest.mark.usefixtures("spark")


def counting() -> bm.StreamsBuilder:
    app = bm.StreamsBuilder("settings", key=bm.Text(), value=bm.Text())
    app.stream("orders").group_by_key().count(store="counts").to_stream().to("totals")
    return app


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"engine": "sparc"}, "There is no engine='sparc'. Did you mean 'spark'?"),
        ({"engine": "x"}, "There is no engine='x'. Use one of: local, spark."),
        ({"emit": "lst"}, "There is no emit='lst'. Did you mean 'last'?"),
        ({"on_error": "contine"}, "There is no on_error='contine'. Did you mean 'continue'?"),
        ({"store_type": "rocks"}, "There is no store_type='rocks'. Did you mean 'rocksdb'?"),
        ({"partitions": {"order": 2}}, "The topology has no input topic 'order'. Did you mean 'orders'?"),
        ({"partitions": 0}, "A topic needs at least one partition; found 0 for 'orders'."),
    ],
)
def test_unknown_option_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(bm.errors.ConfigError) as caught:
        TopologyTestDriver(counting(), **options)

    assert str(caught.value) == words


def test_unknown_names_are_refused() -> None:
    with TopologyTestDriver(counting()) as driver:
        with pytest.raises(bm.errors.ConfigError, match=r"no input topic 'ordres'. Did you mean 'orders'"):
            driver.input_topic("ordres")
        with pytest.raises(bm.errors.ConfigError, match=r"no output topic 'total'. Did you mean 'totals'"):
            driver.output_topic("total")
        with pytest.raises(bm.errors.ConfigError, match=r"no store 'count'. Did you mean 'counts'"):
            driver.store("count")
        with pytest.raises(bm.errors.ConfigError, match=r"no store 'x'. Known names: counts"):
            driver.store("x")
        with pytest.raises(bm.errors.ConfigError, match=r"no input topic 'nowhere'. Known names: orders"):
            driver.pipe_records([("nowhere", bm.Record("k", "v", 0))])


def test_topic_that_the_program_does_not_read_is_not_an_input() -> None:
    with (
        TopologyTestDriver(counting()) as driver,
        pytest.raises(bm.errors.ConfigError, match=r"no input topic 'totals'"),
    ):
        driver.input_topic("totals")
