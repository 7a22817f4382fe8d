"""Track every order through its lifecycle, reject impossible events, and end what takes too long.

A processor keeps the state of each order in a store. An event advances the order, or goes to the
topic of rejected events. An order that is not paid in time is cancelled, one that is not sent in time is
reported; no event announces these two, so a punctuation looks for them.

Fill the topic, and run the program until everything is processed:

    brookmere produce order-events examples/data/order_lifecycle/order-events.jsonl --format json --create
    brookmere run examples/order_lifecycle.py --until-idle

See what became of the orders:

    brookmere consume order-states --from-beginning
"""

from dataclasses import dataclass, replace
from datetime import timedelta

import brookmere as bm

# What may happen to an order, and its state afterwards.
MOVES = {
    ("new", "placed"): "unpaid",
    ("unpaid", "paid"): "open",
    ("unpaid", "cancelled"): "cancelled",
    ("open", "cancelled"): "refunded",
    ("open", "sent"): "sent",
    ("late", "sent"): "sent",
    ("late", "cancelled"): "refunded",
    ("sent", "returned"): "refunded",
}
# How long an order may stay in a state, and its state after that.
LIMITS = {"unpaid": (timedelta(minutes=30), "cancelled"), "open": (timedelta(days=2), "late")}


@dataclass
class Order:
    """What the store keeps of an order: its state, and how long it may stay in it."""

    state: str
    until: int | None = None


@dataclass
class Change:
    """What the program reports: the state before and after, and why."""

    before: str
    after: str
    why: str


class Lifecycle(bm.Processor):
    """Handles the orders of one partition; each task has its own instance."""

    stores = (bm.key_value_store("orders", key=bm.Text(), value=bm.Json(Order)),)

    def init(self, context):
        """Get the store, and check all orders at every minute of stream time."""
        super().init(context)
        self.orders = context.store("orders")
        context.schedule(timedelta(minutes=1), "stream_time", self.end_what_takes_too_long)

    def process(self, record):
        """Advance an order, or reject the event."""
        # The check at every minute comes after the record that advances time.
        self.end_if_over(record.key, record.timestamp)
        order = self.orders.get(record.key) or Order("new")
        event = record.value.event
        after = MOVES.get((order.state, event))
        if after is None:
            refused = Change(order.state, order.state, event)
            self.context.forward(record.with_value(refused), to="refused")
        else:
            self.enter(record, order.state, after, event)

    def end_what_takes_too_long(self, now):
        """Advance the orders whose time is up."""
        for number, _ in list(self.orders.all()):
            self.end_if_over(number, now)

    def end_if_over(self, number, now):
        """Advance an order that has been in its state for too long."""
        order = self.orders.get(number)
        if order is not None and order.until is not None and order.until <= now:
            after = LIMITS[order.state][1]
            self.enter(bm.Record(number, None, now), order.state, after, "time is over")

    def enter(self, record, before, after, why):
        """Store the new state of an order, and report it."""
        limit = LIMITS.get(after)
        order = Order(after)
        if limit is not None:
            order = replace(order, until=record.timestamp + limit[0] // timedelta(milliseconds=1))
        self.orders.put(record.key, order)
        self.context.forward(record.with_value(Change(before, after, why)), to="states")


@dataclass
class Event:
    """What happened to an order."""

    event: str


app = bm.StreamsBuilder("order-lifecycle", key=bm.Text(), value=bm.Json(Event))
# A record without an order or without an event changes nothing.
events = app.stream("order-events", on_bad_record="continue").filter(
    lambda number, event: number.isNotNull() & event.isNotNull(), name="complete"
)
changes = events.process(Lifecycle, value=bm.Json(Change), name="lifecycle")
changes.to("order-states", name="states")
changes.to("refused-events", name="refused")
