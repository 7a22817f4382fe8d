"""A program as a Bytewax flow; the settings are JSON in the variable BENCH_SETTINGS."""

import json
import os

import bytewax.operators as op
from bytewax.connectors.kafka import KafkaSinkMessage
from bytewax.connectors.kafka import operators as kop
from bytewax.dataflow import Dataflow

given = json.loads(os.environ["BENCH_SETTINGS"])
window_ms = given["window_ms"]


def count(seen, _):
    seen = (seen or 0) + 1
    return seen, str(seen)


def count_window(windows, record):
    # Its own windows emit a result when they close; this emits every update, like the others.
    start = int(record.timestamp[1]) // window_ms if record.timestamp else 0
    windows = windows or {}
    windows[start] = windows.get(start, 0) + 1
    if len(windows) > 2:
        del windows[min(windows)]
    return windows, str(windows[start])


def message(pair):
    return KafkaSinkMessage(pair[0].encode(), pair[1].encode())


flow = Dataflow(given["application"])
records = kop.input("in", flow, brokers=[given["servers"]], topics=[given["in"]]).oks
if given["program"] == "map":
    results = op.map(
        "map", records, lambda r: KafkaSinkMessage(r.key, (r.value.decode().upper() + "!").encode())
    )
else:
    keyed = op.map("key", records, lambda record: (record.key.decode(), record))
    step = count if given["program"] == "count" else count_window
    results = op.map("message", op.stateful_map("count", keyed, step), message)
kop.output("out", results, brokers=[given["servers"]], topic=given["out"])
