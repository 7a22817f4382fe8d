"""Find hosts that call out at regular intervals, like malware that polls for commands.

People and browsers call in bursts and at random times; a beacon calls every minute, give or take a little.
For each host and destination the program keeps the mean and the variance of the gaps between calls (Welford's
method, in four numbers), and reports a pair that has called often enough with nearly equal gaps.

Fill the topics, and run the program until everything is processed. Without a cache every call is evaluated;
with it only the last one of each batch, so a beacon that has become irregular by then is missed:

    brookmere produce known examples/data/beaconing/known.jsonl --format json --create
    brookmere produce connections examples/data/beaconing/connections.jsonl --format json --create
    brookmere run examples/beaconing.py --until-idle -c statestore.cache.max.bytes=0

See which beacons were found, and the statistics of a pair that is not one:

    brookmere consume beacons --from-beginning
    brookmere query beaconing gaps '{"host":"desk-3","destination":"news.example"}'
"""

from datetime import timedelta

from pyspark.sql import Column
from pyspark.sql import functions as F

import brookmere as bm

BURST = timedelta(seconds=5)  # connections this close together are one call
LATE = timedelta(minutes=1)  # how late a connection may be
ENOUGH = 10  # gaps; with fewer, regularity may be chance
EVEN = 0.1  # the largest coefficient of variation of a beacon: standard deviation / mean
FORGET = timedelta(hours=4)  # after this much silence a pair starts from scratch
QUIET = timedelta(days=1)  # a pair is reported at most once in this time

PAIR = bm.Json("host string, destination string")

# The last calls before a quiet night must not be lost.
app = bm.StreamsBuilder("beaconing", key=bm.Text(), corrections=["window-close-jumps"])
known = app.global_table("known", value=bm.Json("owner string"))
connections = app.stream(
    "connections", value=bm.Json("host string, destination string, bytes bigint"), on_bad_record="continue"
)

# A session is sent when it closes, so calls are in timestamp order, whatever their order of arrival.
calls = (
    connections.filter(lambda c: c.host.isNotNull() & c.destination.isNotNull())
    .group_by(lambda _, c: {"host": c.host, "destination": c.destination}, key=PAIR)
    .windowed_by(bm.SessionWindows(BURST, grace=LATE), emit="close", late_to="late-connections")
    .count()
    .to_stream()
    .map(lambda window, _: (window.key, window.start))
)


def with_gap(at: Column, seen: Column) -> dict[str, Column]:
    """Add the gap before a call to the mean and to the sum of squared differences from it."""
    gap = (at - seen.last) / 1000
    is_new = seen.last.isNull() | (gap > FORGET.total_seconds())
    gaps = F.when(is_new, 0).otherwise(seen.gaps + 1)
    off = gap - seen.mean
    mean = seen.mean + off / gaps
    return {
        "last": at,
        "gaps": gaps,
        "mean": F.when(is_new, 0.0).otherwise(mean),
        "squares": F.when(is_new, 0.0).otherwise(seen.squares + off * (gap - mean)),
    }


gaps = calls.group_by_key(key=PAIR).aggregate(
    {"last": None, "gaps": 0, "mean": 0.0, "squares": 0.0}, with_gap, store="gaps"
)

beacons = (
    gaps.to_stream()
    .filter(lambda seen: seen.gaps >= ENOUGH)
    .map_values(
        lambda seen: {
            "every": F.round(seen.mean, 1),
            "calls": seen.gaps + 1,
            "variation": F.round(F.sqrt(seen.squares / seen.gaps) / seen.mean, 3),
        }
    )
    .filter(lambda seen: seen.variation <= EVEN)
    # Time servers and the like are called regularly for good reason.
    .left_join(
        known,
        lambda seen, owner: {"seen": seen, "known": owner.isNotNull()},
        key=lambda pair, _: pair.destination,
    )
    .filter(lambda found: ~found.known)
    .map_values(lambda found: found.seen)
    .dedupe(QUIET)
)
beacons.to("beacons", key=PAIR, value=bm.Json("every double, calls bigint, variation double"))
