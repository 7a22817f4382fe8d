"""Runs a program with Faust until it is killed: `faust_streaming.py SETTINGS`, as JSON."""

import json
import sys
from datetime import timedelta

import faust

given = json.loads(sys.argv.pop(1))
app = faust.App(
    given["application"],
    broker=f"kafka://{given['servers']}",
    store="memory://",
    topic_partitions=given["partitions"],
    datadir=given["directory"],
    consumer_auto_offset_reset="earliest",
    web_enabled=False,
)
source = app.topic(given["in"], key_type=str, key_serializer="raw", value_type=bytes, value_serializer="raw")
out = app.topic(given["out"], key_type=bytes, key_serializer="raw", value_type=bytes, value_serializer="raw")
counts = app.Table("counts", default=int)
if given["program"] == "windows":
    counts = counts.tumbling(timedelta(milliseconds=given["window_ms"]), expires=timedelta(hours=1))


@app.agent(source)
async def work(stream):
    async for key, value in stream.items():
        name = key if isinstance(key, str) else key.decode()
        if given["program"] == "map":
            result = (value.decode().upper() + "!").encode()
        elif given["program"] == "count":
            counts[name] += 1
            result = str(counts[name]).encode()
        else:
            counts[name] += 1
            result = str(counts[name].current()).encode()
        out.send_soon(key=name.encode(), value=result)


if __name__ == "__main__":
    sys.argv[1:] = ["worker", "-l", "warn", "--without-web"]
    app.main()
