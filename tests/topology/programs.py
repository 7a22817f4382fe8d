"""Programs that several tests of the topology look at."""

from __future__ import annotations

from typing import Any

import brookmere as bm


def any_function(*columns: Any) -> Any:
    """Stands for a user's function where it is never called."""
    return columns


def builder(application_id: str = "app") -> bm.StreamsBuilder:
    """A builder whose sources are text."""
    return bm.StreamsBuilder(application_id, key=bm.Text(), value=bm.Text())


def word_count() -> bm.StreamsBuilder:
    """Split, group, count, write."""
    app = builder("word-count")
    words = app.stream("lines").flat_map_values(any_function)
    words.group_by(any_function).count(store="counts").to_stream().to("totals")
    return app
