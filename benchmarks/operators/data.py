"""The topics of a case, the same for every engine.

A record of a topic is known by its number, from 0. Keys are as in the part `kernel`: record `n` has the
key of `n` modulo the number of keys, shuffled. Time advances with the number, `SPAN_MS` in every batch, so
the expected output is known without computing it record by record.

A record is in partition `n` modulo 2. The number of keys is even, so a key is always in the same one, and
topics with the same keys can be joined.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.kernel import data as kernel
from benchmarks.kernel.data import PARTITIONS, numbers, quotient, shuffled
from benchmarks.operators.cases import Shape

SPAN_MS = 100_000
"""How far event time advances in a batch."""
START_MS = 1_700_000_000_000 + SPAN_MS // 2
"""A batch starts in the middle of a tumbling window, so every window has records of two batches."""
SIZE_MS = SPAN_MS
HOP_MS = SIZE_MS // 5
GAP_MS = SPAN_MS * 4 // 5
GRACE_MS = SPAN_MS // 10

LEFT, RIGHT = "left", "right"
"""The topics; shapes that are not joins read the left one."""
MATCHES = 4
"""One in this many left records finds no match."""
PER_PRODUCT = 10
"""The number of orders per product."""
VERSIONS = 1_000_000
"""A joined order is the order's number times this, and the version of the product."""

_STRIDE = 7919


@dataclass(frozen=True, slots=True)
class Feed:
    """The topics of a shape: `rows` records per micro-batch, of all topics, over `keys` keys."""

    shape: Shape
    keys: int
    rows: int

    @property
    def sizes(self) -> dict[str, int]:
        """The number of records of each topic per batch. All are even: they go to two partitions."""
        part = {"table": 4, "inner": 2, "left": 2, "foreign": 10}.get(self.shape)
        if part is None:
            return {LEFT: self.rows}
        right = max(2, self.rows // part // 2 * 2)
        return {LEFT: self.rows - right, RIGHT: right}

    @property
    def fill(self) -> int:
        """The number of batches after which the state has its final size, and every record its match."""
        left, right = self.sizes[LEFT], self.sizes.get(RIGHT, 1)
        match self.shape:
            case "table":
                return ceil(self.keys / right)
            case "foreign":
                return max(ceil(self.keys / left), ceil(self.products / right))
            case "inner" | "left":
                return ceil(self.keys / (2 * left)) + 1
            case "count" | "chain":
                return ceil(self.keys / left)
            case _:
                return 3

    def streams(self, session: SparkSession) -> dict[str, DataFrame]:
        """Return the topics, with the key as an additional text column."""
        return {topic: self._stream(session, topic) for topic in self.sizes}

    def text(self, topic: str, number: Column) -> Column:
        """Return the key of record `number`."""
        plain = kernel.Feed(self.keys, self.rows)
        if self.shape == "session":
            return plain.key(self._session_place(number))
        if self.shape in ("inner", "left") and topic == RIGHT:
            partner = number - self.shift
            other = F.concat(F.lit("x"), number.cast("string"))
            return F.when(matches(number) & (partner >= 0), plain.key(partner)).otherwise(other)
        return plain.key(number)

    def time(self, number: Column, topic: str = LEFT) -> Column:
        """Return the event time of record `number` of a topic, in milliseconds."""
        return quotient(number * SPAN_MS, self.sizes[topic]) + START_MS

    def occurrence_since(self, number: Column, start: Column) -> Column:
        """Return how many records have the key of `number`, from time `start` up to that record."""
        rows = self.sizes[LEFT]
        first = F.greatest(quotient((start - START_MS) * rows + (SPAN_MS - 1), SPAN_MS), F.lit(0))
        place = number % self.keys
        before = F.greatest(quotient(first - place + (self.keys - 1), self.keys), F.lit(0))
        return quotient(number, self.keys) - before + 1

    # Sessions: some of the keys have records in a batch, then it is the turn of the next ones.

    @property
    def active(self) -> int:
        """The number of keys with records in a batch, each at least two."""
        return self.keys // max(4, ceil(2 * self.keys / self.rows))

    def _session_place(self, number: Column) -> Column:
        batch, place = quotient(number, self.rows), (number % self.rows) % self.active
        return (batch * self.active + place) % self.keys

    # Joins of streams: a right record belongs to the left one that is `shift` numbers before it.

    @property
    def shift(self) -> int:
        """How many records later the match of a left record arrives."""
        return self.keys * 3 // 20 // 2 * 2

    @property
    def within_ms(self) -> int:
        """How far apart a pair may be: a fifth of the time until the key recurs."""
        return max(1, self.keys * SPAN_MS // (5 * self.sizes[LEFT]))

    # Foreign keys: each order changes its product at every second update.

    @property
    def products(self) -> int:
        """The number of products."""
        return max(2, self.keys // PER_PRODUCT)

    def product_place(self, place: Column, occurrence: Column) -> Column:
        """Return the place of the product that an order has at its `occurrence`, from 0."""
        return (place + quotient(occurrence, 2) * _STRIDE) % self.products

    def order(self, place: Column, occurrence: Column) -> Column:
        """Return the number that is the value of an order: it grows, and its remainder is the product."""
        product = shuffled(self.product_place(place, occurrence), self.products)
        return (occurrence + 1) * self.products + product

    def _stream(self, session: SparkSession, topic: str) -> DataFrame:
        number = F.col("value")
        text = self.text(topic, number)
        key, value = text.cast("binary"), text.cast("binary")
        if self.shape == "foreign" and topic == LEFT:
            value = as_bytes(self.order(number % self.keys, quotient(number, self.keys)))
        elif self.shape == "foreign":
            key = as_bytes(shuffled(number % self.products, self.products))
            value = as_bytes(quotient(number, self.products) + 1)
        return numbers(session, self.sizes[topic]).select(
            text.alias("text"),
            key.alias("key"),
            value.alias("value"),
            (number % PARTITIONS).cast("int").alias("partition"),
            quotient(number, PARTITIONS).alias("offset"),
            self.time(number, topic).alias("timestamp"),
        )


def matches(number: Column) -> Column:
    """Return whether a right record has the key of a left one."""
    return quotient(number, PARTITIONS) % MATCHES != 0


def as_bytes(number: Column) -> Column:
    """Return Kafka's 8 bytes for a long."""
    return F.unhex(F.lpad(F.hex(number), 16, "0"))
