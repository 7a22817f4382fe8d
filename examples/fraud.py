"""Select card payments for review: too many in a short time, or too far apart to travel.

The velocity rule counts payments in sliding windows: any five minutes, not aligned to the clock. The distance
rule joins the payments of a card with each other, so it finds every pair in any order of arrival.
Both use the time of the payment; a payment that the terminal sends late or twice does no harm.

Fill the topic, and run the program until everything is processed:

    brookmere produce payments examples/data/fraud/payments.jsonl --format json --create
    brookmere run examples/fraud.py --until-idle

See which payments to review and why, and which ones were too late:

    brookmere consume reviews --from-beginning
    brookmere consume late-payments --from-beginning
"""

from datetime import timedelta

from pyspark.sql import Column
from pyspark.sql import functions as F

import brookmere as bm

SPAN = timedelta(minutes=5)
MOST_PAYMENTS = 4  # in a span
MOST_MONEY = 2000  # in a span
LATE = timedelta(hours=1)  # how late a payment may be
QUIET = timedelta(hours=1)  # the velocity of a card is reported once in this time
SPEED = 900.0  # km/h, of an airliner
NEAR = 100.0  # km; the location of a terminal is not known more precisely
EARTH = 6371.0  # km, its mean radius

app = bm.StreamsBuilder("fraud", key=bm.Text())
payments = app.stream(
    "payments",
    value=bm.Json("id string, at timestamp, amount double, city string, lat double, lon double"),
    timestamp="at",
    on_invalid_timestamp="skip",
    on_bad_record="continue",
).dedupe(LATE, by="id", late_to="late-payments")


def money_of(payment: Column) -> Column:
    """Return the amount, or zero if it is missing or NaN: such a payment still counts as one."""
    return F.when(F.abs(payment.amount) < float("inf"), payment.amount).otherwise(0.0)


busy = (
    payments.group_by_key()
    .windowed_by(bm.SlidingWindows(SPAN, grace=LATE))
    .agg(ids=bm.collect_list("id"), money=bm.sum(money_of), store="spending")
    .to_stream(lambda window, spending: window.key)
    .filter(lambda spending: (F.size(spending.ids) > MOST_PAYMENTS) | (spending.money > MOST_MONEY))
    # A window that exceeds the limit does so at every further payment; one review is enough.
    .dedupe(QUIET)
    .map_values(
        lambda spending: {
            "rule": "velocity",
            "reason": F.format_string(
                "payments in 5 minutes: %d, money: %.2f", F.size(spending.ids), spending.money
            ),
            "payments": spending.ids,
        }
    )
)


def kilometres(a: Column, b: Column) -> Column:
    """Return the length of the great circle between two places (the haversine formula)."""

    def half_sine_squared(degrees: Column) -> Column:
        return F.pow(F.sin(F.radians(degrees) / 2), 2)

    along = F.cos(F.radians(a.lat)) * F.cos(F.radians(b.lat)) * half_sine_squared(b.lon - a.lon)
    return 2 * EARTH * F.asin(F.sqrt(F.least(half_sine_squared(b.lat - a.lat) + along, F.lit(1.0))))


def journey(first: Column, then: Column) -> dict[str, Column]:
    """Combine two payments: how far apart they are, in space and in time."""
    hours = (F.unix_millis(then.at) - F.unix_millis(first.at)) / 3_600_000
    return {"first": first, "then": then, "km": kilometres(first, then), "hours": hours}


# Halfway around the world at that speed: payments further apart in time cannot break the rule.
LONGEST = timedelta(hours=3.15 * EARTH / SPEED)

# Online payments have no place, and a terminal that has lost its own sends an invalid one.
placed = payments.filter(lambda payment: payment.lat.between(-90, 90) & payment.lon.between(-180, 180))
far = (
    placed.join(placed, journey, windows=bm.JoinWindows(timedelta(0), after=LONGEST))
    .filter(lambda trip: (trip.km > NEAR) & (trip.km > SPEED * trip.hours))
    # Two payments at the same moment match each other twice.
    .filter(lambda trip: (trip.hours > 0) | (trip.first.id < trip.then.id))
    .map_values(
        lambda trip: {
            "rule": "distance",
            "reason": F.format_string(
                "%s to %s: %.0f km in %.1f hours", trip.first.city, trip.then.city, trip.km, trip.hours
            ),
            "payments": F.array(trip.first.id, trip.then.id),
        }
    )
)

busy.merge(far).to("reviews", value=bm.Json("rule string, reason string, payments array<string>"))
