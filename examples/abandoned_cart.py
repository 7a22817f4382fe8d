"""Find abandoned carts: no order within half an hour of the last action.

Two topics carry what a user adds to the cart, removes from it and orders; together they form one session per
user. A session is examined once, when it has closed. An order that is late, but within the grace period,
still counts; items added after an order start a new cart.

Fill the topics, and run the program until everything is processed:

    brookmere produce cart-moves examples/data/abandoned_cart/cart-moves.jsonl --format json --create
    brookmere produce orders examples/data/abandoned_cart/orders.jsonl --format json --create
    brookmere run examples/abandoned_cart.py --until-idle

See the abandoned carts:

    brookmere consume abandoned-carts --from-beginning
"""

from datetime import timedelta

from pyspark.sql import Column
from pyspark.sql import functions as F

import brookmere as bm

LEFT = timedelta(minutes=30)  # this long without a move or an order ends a session
LATE = timedelta(minutes=10)  # how late a move or an order may be
ASLEEP = timedelta(minutes=5)  # if nothing arrives for this long, the clock closes the last sessions

app = bm.StreamsBuilder("abandoned-cart", key=bm.Text())
moves = app.stream(
    "cart-moves",
    # Pieces removed from the cart are negative.
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
    """Return the final cart: what was added minus what was removed since the last order."""
    moves = F.filter(session.moves, lambda move: session.ordered.isNull() | (move.at > session.ordered))

    def line(item: Column) -> Column:
        same = F.filter(moves, lambda move: move.item == item)
        pieces = F.aggregate(same, F.lit(0), lambda total, move: total + move.pieces)
        # The latest price counts; removed items often have none.
        priced = F.filter(same, lambda move: move.price.isNotNull())
        price = F.array_max(F.transform(priced, lambda move: F.struct(move.at, move.price))).price
        return F.struct(item.alias("item"), pieces.alias("pieces"), price.alias("price"))

    items = F.array_distinct(F.transform(moves, lambda move: move.item))
    return F.filter(F.transform(items, line), lambda line: line.pieces > 0)


def worth(line: Column) -> Column:
    """Return the cost of a line; items without a price cost nothing."""
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
