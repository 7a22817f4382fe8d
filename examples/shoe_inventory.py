"""Keep the stock of a shoe shop: a stream of changes becomes a table, and the table a stream of changes.

Shipments, sales and returns are streams: records of what happened. Their sum per shoe is a table: what is
true now. Every change of the table goes to the topic "stock", and a consumer that reads that topic from the
beginning rebuilds the table. They are two views of the same data, and this shows both side by side:

    python examples/shoe_inventory.py

Run it on embedded topics in the directory .brookmere, and stop it with Ctrl-C:

    brookmere run examples/shoe_inventory.py --create-topics

In another terminal:

    echo "trail-42:10" | brookmere produce shipments --key-separator : --value-serde int
    echo "trail-42:3" | brookmere produce sales --key-separator : --value-serde int
    brookmere consume stock --value-serde int
"""

import tempfile
from collections.abc import Iterable
from pathlib import Path

import brookmere as bm

app = bm.StreamsBuilder("shoe-inventory", key=bm.Text(), value=bm.Int())

shipments = app.stream("shipments")
sales = app.stream("sales").map_values(lambda pairs: -pairs)
returns = app.stream("returns")

stock = (
    shipments.merge(sales)
    .merge(returns)
    .group_by_key()
    .reduce(lambda total, pairs: total + pairs, store="stock")
)
stock.to_stream().to("stock")

WEEK = [
    ("Mon", "shipments", "trail-42", 10),
    ("Mon", "shipments", "boot-44", 4),
    ("Tue", "sales", "trail-42", 1),
    ("Tue", "sales", "boot-44", 2),
    ("Wed", "sales", "trail-42", 3),
    ("Thu", "returns", "trail-42", 1),
    ("Fri", "shipments", "clog-39", 6),
    ("Sat", "sales", "boot-44", 1),
    ("Sat", "sales", "clog-39", 2),
]


def main() -> None:
    """Feed a week through embedded topics, and show the result."""
    with tempfile.TemporaryDirectory(prefix="shoe-inventory-") as folder:
        topics = bm.Topics(Path(folder) / "topics")
        for hour, (_, topic, shoe, pairs) in enumerate(WEEK):
            topics.create(topic, exist_ok=True)
            with topics.producer(topic, key=bm.Text(), value=bm.Int()) as producer:
                producer.send(shoe, pairs, timestamp=hour * 3_600_000)
        # Without a cache every change is written; with one, only the last change of each shoe in a batch.
        settings = {
            "topics.dir": topics.directory,
            "state.dir": Path(folder) / "state",
            "statestore.cache.max.bytes": 0,
        }
        with bm.Application(app, settings) as application:
            application.process_all_available()
        changes = list(topics.consumer("stock", key=bm.Text(), value=bm.Int()))
    print("\n".join(side_by_side(WEEK, [(change.key, change.value) for change in changes])))


def side_by_side(week: Iterable[tuple[str, str, str, int]], changes: Iterable[tuple[str, int]]) -> list[str]:
    """Return what happened, the change it caused, and the table after it."""
    table: dict[str, int] = {}
    lines = [f"{'what happened':<28}{'change stream':<20}table", f"{'-' * 26:<28}{'-' * 18:<20}{'-' * 30}"]
    for (day, topic, shoe, pairs), (changed, total) in zip(week, changes, strict=True):
        table[changed] = total
        rows = "  ".join(f"{name} {count}" for name, count in sorted(table.items()))
        lines.append(f"{f'{day} {topic} {shoe} {pairs}':<28}{f'{changed} -> {total}':<20}{rows}")
    return lines


if __name__ == "__main__":
    main()
