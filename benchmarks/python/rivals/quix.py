"""Runs a program with Quix Streams until it is killed: `quix.py SETTINGS`, as JSON."""

import json
import sys

from quixstreams import Application

given = json.loads(sys.argv[1])
application = Application(
    broker_address=given["servers"],
    consumer_group=given["application"],
    auto_offset_reset="earliest",
    state_dir=given["directory"],
    loglevel="WARNING",
)
source = application.topic(given["in"], key_deserializer="str", value_deserializer="str")
out = application.topic(given["out"], key_serializer="str", value_serializer="str")


def count(_, state):
    seen = state.get("count", 0) + 1
    state.set("count", seen)
    return str(seen)


stream = application.dataframe(source)
if given["program"] == "map":
    stream = stream.apply(lambda value: value.upper() + "!")
elif given["program"] == "count":
    stream = stream.apply(count, stateful=True)
else:
    windows = stream.tumbling_window(given["window_ms"], grace_ms=given["grace_ms"])
    counts = windows.reduce(reducer=lambda seen, _: seen + 1, initializer=lambda _: 1).current()
    stream = counts.apply(lambda window: str(window["value"]))
stream.to_topic(out)
application.run()
