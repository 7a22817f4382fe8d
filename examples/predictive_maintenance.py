"""Find machines that vibrate more than they should, and send an alarm before they break.

A reading is unusual when the vibration is above the limit of its machine. Unusual readings that follow each
other form one session; a long or strong session raises an alarm, with the data of the machine. It shows a
stream-table join, session windows, and how to send one alarm although there are many reasons for it.

Fill the topics, and run it until everything is processed:

    brookmere produce machines examples/data/predictive_maintenance/machines.jsonl --format json --create
    brookmere produce readings examples/data/predictive_maintenance/readings.jsonl --format json --create
    brookmere run examples/predictive_maintenance.py --until-idle

See the alarms, and query the sessions of a machine:

    brookmere consume alarms --from-beginning
    brookmere query predictive-maintenance unusual-vibration press-1

With `--serve 127.0.0.1:7000` instead of `--until-idle` it keeps running, and serves the sessions over HTTP:

    curl http://127.0.0.1:7000/stores/unusual-vibration/press-1
"""

from datetime import timedelta

from pyspark.sql import Column
from pyspark.sql import functions as F

import brookmere as bm

USUAL_LIMIT = 7.1  # mm/s, for machines without a known limit
CALM = timedelta(seconds=30)  # this long without an unusual reading ends a session
LATE = timedelta(minutes=1)  # how late a reading may be
LONG = timedelta(minutes=1)  # a session of this length raises an alarm
STRONG = 2.0  # and so does one that reaches this multiple of the limit
QUIET = timedelta(minutes=15)  # a machine raises one alarm of a kind in this time

app = bm.StreamsBuilder("predictive-maintenance", key=bm.Text())
machines = app.table("machines", value=bm.Json("model string, hall string, limit double"))
readings = app.stream("readings", value=bm.Json("vibration double"), on_bad_record="continue")


def is_number(value: Column) -> Column:
    """Return whether a value is positive and finite; NaN, which broken sensors send, is above infinity."""
    return (value > 0) & (value < float("inf"))


unusual = (
    readings.filter(lambda reading: is_number(reading.vibration), name="measured")
    .left_join(
        machines,
        lambda reading, machine: {
            "vibration": reading.vibration,
            "limit": F.when(is_number(machine.limit), machine.limit).otherwise(USUAL_LIMIT),
        },
        name="with-limit",
    )
    .filter(lambda reading: reading.vibration > reading.limit, name="unusual")
)

sessions = (
    unusual.group_by_key()
    .windowed_by(bm.SessionWindows(CALM, grace=LATE), late_to="late-readings")
    .agg(
        readings=bm.count(),
        peak=bm.max("vibration"),
        strength=bm.max(lambda reading: reading.vibration / reading.limit),
        store="unusual-vibration",
        # Sessions can be queried for a day after they end.
        retention=timedelta(days=1),
    )
)


def judged(window: Column, session: Column) -> tuple[Column, dict[str, Column]]:
    """Give a session the reason for an alarm, or none."""
    seconds = (window.end - window.start) / 1000
    reason = F.when(session.strength >= STRONG, "strong").when(seconds >= LONG.total_seconds(), "long")
    return window.key, {"reason": reason, "seconds": seconds, "peak": session.peak}


alarms = (
    sessions.to_stream()
    # A session that grows has a new end, so the previous one is deleted by a record without a value.
    .filter(lambda session: session.isNotNull())
    .map(judged)
    .filter(lambda alarm: alarm.reason.isNotNull(), name="serious")
    .dedupe(QUIET, by=lambda machine, alarm: F.struct(machine, alarm.reason))
    .left_join(
        machines,
        lambda alarm, machine: {
            "model": machine.model,
            "hall": machine.hall,
            "reason": alarm.reason,
            "seconds": alarm.seconds,
            "peak": alarm.peak,
        },
    )
)
alarms.to("alarms", value=bm.Json("model string, hall string, reason string, seconds double, peak double"))
