"""Watch a stock exchange: statistics of the last five seconds, every second, and the top ten of the day.

Trades are keyed by symbol. A window of five seconds starts every second, so a trade counts in five of them;
each holds the lowest ask, the number of trades and the average price of its symbol. The top ten need two
phases: first the traded value of each symbol and day, by symbol; then the ten best symbols of each day, by
day.

Run it on embedded topics in the directory .brookmere, serve its stores, and stop it with Ctrl-C:

    brookmere run examples/stock_statistics.py --create-topics --serve 127.0.0.1:7000

In another terminal, feed it trades, and query a symbol between two times and the best of a day:

    brookmere produce trades examples/data/stock_statistics/trades.jsonl --format json
    brookmere consume stock-statistics
    curl "http://127.0.0.1:7000/stores/statistics/ACME?start=2026-03-02T10:00:00Z&end=2026-03-02T10:00:02Z"
    curl http://127.0.0.1:7000/top/2026-03-02
"""

from datetime import date, timedelta

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel
from pyspark.sql import Column
from pyspark.sql import functions as F

import brookmere as bm
from brookmere.serve import Stores

SECOND = timedelta(seconds=1)
DAY = timedelta(days=1)

app = bm.StreamsBuilder("stock-statistics", key=bm.Text())
trades = app.stream(
    "trades",
    value=bm.Json("symbol string, ask double, price double, size bigint"),
    on_bad_record="continue",
)


def is_good(symbol: Column, trade: Column) -> Column:
    """Return whether a trade has a symbol, an ask, a price and a size."""
    # NaN is a double as well, and greater than every number.
    known = symbol.isNotNull() & (trade.ask < float("inf")) & (trade.price < float("inf"))
    return known & (trade.ask > 0) & (trade.price > 0) & (trade.size > 0)


# Invalid trades are set aside for inspection.
ways = trades.split(name="trade-").branch(is_good, name="good").default_branch(name="refused")
ways["trade-refused"].to("trades-refused")
by_symbol = ways["trade-good"].group_by_key()

# The windows of each symbol. A trade may be two seconds late; a later one goes to a separate topic.
last_seconds = bm.TimeWindows(5 * SECOND, advance=SECOND, grace=2 * SECOND)
statistics = by_symbol.windowed_by(last_seconds, late_to="trades-late").agg(
    lowest_ask=bm.min("ask"),
    trades=bm.count(),
    average_price=bm.avg("price"),
    store="statistics",
    retention=timedelta(hours=1),
)
statistics.to_stream().to("stock-statistics", key=bm.Windowed(bm.Text(), form="json"))

# First phase: the traded value of each symbol and day.
days = by_symbol.windowed_by(bm.TimeWindows(DAY, grace=timedelta(minutes=10))).agg(
    trades=bm.count(), value=bm.sum(lambda trade: trade.price * trade.size), store="days"
)
# Second phase: the same rows by day. An update removes the old row of its symbol and adds the new one.
by_day = days.group_by(
    lambda window, row: (
        F.date_format(F.timestamp_millis(window.start), "yyyy-MM-dd"),
        {"symbol": window.key, "trades": row.trades, "value": row.value},
    ),
    key=bm.Text(),
)
by_day.top_n(10, by="value", store="top-symbols").to_stream().to("top-symbols")

routes = APIRouter()


class Symbol(BaseModel):
    symbol: str
    trades: int
    value: float


@routes.get("/top/{day}")
def top_of(day: date, stores: Stores) -> list[Symbol]:
    """Return the symbols of a day with the greatest traded value, greatest first."""
    rows = stores["top-symbols"].get(day.isoformat())
    if rows is None:
        raise HTTPException(404, f"Nothing was traded on {day}.")
    return [Symbol(**row) for row in rows]
