"""Pickled objects go from topics through Python code into stores and topics; Columns see their bytes."""

from __future__ import annotations

import brookmere as bm
from brookmere.testing import TopologyTestDriver


class Collecting(bm.Processor):
    stores = (bm.key_value_store("seen", key=str, value=bm.Pickled()),)

    def process(self, record: bm.Record) -> None:
        seen = self.context.store("seen")
        seen.put(record.key, (seen.get(record.key) or frozenset()) | record.value)
        self.context.forward(record.with_value(seen.get(record.key)))


def test_pickled_objects_are_objects_for_python_code() -> None:
    app = bm.StreamsBuilder("sets", key=bm.Text(), value=bm.Pickled())
    sets = app.stream("in").process(Collecting)
    sets.filter(lambda value: value.isNotNull()).to("out")
    sets.map_values(bm.python(len, returns=int)).to("sizes")

    with TopologyTestDriver(app) as driver:
        driver.input_topic("in").pipe_key_values([("k", frozenset({1})), ("k", frozenset({2, 3}))])

        assert driver.output_topic("out").read_values_to_list() == [{1}, {1, 2, 3}]
        assert driver.output_topic("sizes").read_values_to_list() == [1, 3]
        assert driver.store("seen").get("k") == {1, 2, 3}
