from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

import brookmere as bm
from brookmere.run.compile.python.facets import Facets
from brookmere.topology.nodes import ProcessorNode
from brookmere.topology.operators import PassThrough


@dataclass
class Customer:
    id: int


def test_key_of_joined_streams_is_the_dataclass_of_both() -> None:
    app = bm.StreamsBuilder("app", key=bm.Json(Customer), value=bm.Text())
    windows = bm.JoinWindows(timedelta(seconds=1))
    app.stream("left").join(app.stream("right"), lambda left, right: left, windows=windows).to("out")
    topology = app.build()
    processors = [node for node in topology.nodes if isinstance(node, ProcessorNode)]
    (merge,) = (node for node in processors if isinstance(node.operator, PassThrough))
    facets = Facets(topology)

    key, value = facets.of(merge.name)

    assert key.made is not None
    assert key == facets.of(topology.nodes[0].name)[0]
    assert value.made is None
