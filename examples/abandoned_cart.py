"""Finds carts that were filled and left: no order within half an hour of the last thing that was done.

What a user puts into the cart, takes out of it and orders comes in two topics, and becomes one session per
user. A session is looked at once, when it has closed. An order that comes late, but within the grace period,
still counts; what is put into the cart after an order is a new cart.

Fill the topics, and run the program until everything is processed:

    brookmere produce cart-moves examples/data/abandoned_cart/cart-moves.jsonl --format json --create
    brookmere produce orders examples/data/abandoned_cart/orders.jsonl --format json --create
    brookmere run examples/abandoned_cart.py --until-idle

See the carts that wait for their owners:

    brookmere consume abandoned-carts --from-beginning
"""

from datetime import timedelta

from pyspark.sql import Column
from pyspark.sql import functions as F

import brookmere as bm

LEFT = timedelta(minutes=30)  # so long without a move or an order ends a session
LATE = timedelta(minutes=10)  # so late may a move or an order come
ASLEEP = timedelta(minutes=5)  # if nothing at all comes for so long, the clock closes the last sessions

app = bm.StreamsBuilder("abandoned-cart", key=bm.Text())
moves = app.stream(
    "cart-moves",
    # Pieces that are taken out of the cart are negative.
    value=bm.Json("item string, pieces int, price double, at timestamp"),
    timestamp="at",
    on_invalid_timestamp="skip",
    on_bad_record="continue",
).filter(lambda move: move.item.isNotNull() & move.pieces.isNotNull(), name="complete")
orders = app.stream(
    "orders",
    value=bm.Json("number string, at timestamp"),
    timestamp="at",
    on_invalid_timestamp="skip",
    on_bad_record="continue",
)

sessions = (
    moves.group_by_key()
    .cogroup(lambda move, seen: {"moves": F.array_append(seen.moves, move), "ordered": seen.ordered})
    .cogroup(
        orders.group_by_key(),
        lambda order, seen: {"moves": seen.moves, "ordered": F.greatest(seen.ordered, order.at)},
    )
    .windowed_by(bm.SessionWindows(LEFT, grace=LATE), late_to="late-events")
    .aggregate(
        {"moves": [], "ordered": None},
        merger=lambda one, other: {
            "moves": F.concat(one.moves, other.moves),
            "ordered": F.greatest(one.ordered, other.ordered),
        },
        store="sessions",
    )
)


def cart(session: Column) -> Column:
    """Return what is in the cart at the end: what went in less what came out, since the last order."""
    moves = F.filter(session.moves, lambda move: session.ordered.isNull() | (move.at > session.ordered))

    def line(item: Column) -> Column:
        same = F.filter(moves, lambda move: move.item == item)
        pieces = F.aggregate(same, F.lit(0), lambda total, move: total + move.pieces)
        # The price is the last that was told; what is taken out often comes without one.
        told = F.filter(same, lambda move: move.price.isNotNull())
        price = F.array_max(F.transform(told, lambda move: F.struct(move.at, move.price))).price
        return F.struct(item.alias("item"), pieces.alias("pieces"), price.alias("price"))

    items = F.array_distinct(F.transform(moves, lambda move: move.item))
    return F.filter(F.transform(items, line), lambda line: line.pieces > 0)


def worth(line: Column) -> Column:
    """Return what the pieces of a line cost; those without a price cost nothing."""
    return line.pieces * F.coalesce(line.price, F.lit(0.0))


abandoned = (
    sessions.suppress(bm.until_window_closes(), close_idle_after=ASLEEP)
    .to_stream(lambda window, session: window.key)
    .map_values(lambda session: {"cart": cart(session)})
    .filter(lambda left: F.size(left.cart) > 0, name="abandoned")
    .map_values(
        lambda left: {
            "cart": left.cart,
            "worth": F.aggregate(left.cart, F.lit(0.0), lambda total, line: total + worth(line)),
        }
    )
)
abandoned.to(
    "abandoned-carts",
    value=bm.Json("cart array<struct<item: string, pieces: int, price: double>>, worth double"),
)
