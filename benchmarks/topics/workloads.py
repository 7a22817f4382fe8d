"""The records of each workload, a block repeated in its topic, and the results it must produce.

Record `n` of a topic is record `n` modulo the size of the block, `n` milliseconds after the first. So results
are known from the block, and any number of records is written at the speed of the disk.
"""

from __future__ import annotations

import json
import random
import struct
from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Literal

from benchmarks.kernel.data import permutation
from benchmarks.orders import LEAST_QUANTITY

Kind = Literal["words", "orders", "projected", "keys"]

_WORDS = 10_000
_SENTENCES = 20_000
_ORDERS = 10_000


@dataclass(frozen=True, slots=True)
class Workload:
    """The work on a topic of records, `rows` of them per batch."""

    kind: Kind
    rows: int
    keys: int = 0

    @property
    def topic(self) -> str:
        """The topic that is read."""
        return f"{self.kind}-{self.keys}" if self.keys else self.kind

    @property
    def name(self) -> str:
        """The name shown to people."""
        names = {"words": "word count", "orders": "JSON filter and projection", "projected": "projected JSON"}
        return names.get(self.kind, f"count, {self.keys:,} keys")

    @property
    def counts(self) -> bool:
        """Return whether the results are counts."""
        return self.kind in ("words", "keys")


@dataclass(frozen=True, slots=True)
class Block:
    """The records that a topic repeats, and what each of them changes or becomes."""

    keys: list[bytes | None]
    values: list[bytes]
    results: list[list[str]]
    """The keys that a record counts; or the resulting record, as `as_result` writes it."""

    def __len__(self) -> int:
        return len(self.values)

    def expected(self, records: int) -> Counter[str]:
        """Return how often each result occurs for the first `records` records."""
        whole, rest = divmod(records, len(self))
        found: Counter[str] = Counter()
        for place, results in enumerate(self.results):
            times = whole + (place < rest)
            for result in results if times else ():
                found[result] += times
        return found

    def updated(self, rows: int, batches: int) -> int:
        """Return how many results change in a batch, summed over batches of `rows` records."""
        if rows >= len(self):
            return batches * len({result for results in self.results for result in results})
        sizes = []
        for batch in range(batches):
            places = [n % len(self) for n in range(batch * rows, (batch + 1) * rows)]
            sizes.append(len({result for place in places for result in self.results[place]}))
        return sum(sizes)


def as_result(key: bytes | None, value: bytes) -> str:
    """Return a record with a JSON value so that equal content is equal text."""
    return json.dumps([None if key is None else key.decode(), json.loads(value)], sort_keys=True)


@cache
def block(workload: Workload) -> Block:
    """Return the records of a workload: the same ones in every run."""
    if workload.kind == "words":
        return _sentences()
    if workload.kind == "keys":
        return _keys(workload.keys)
    return _orders() if workload.kind == "orders" else _projected()


def _sentences() -> Block:
    chance = random.Random(1)
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    words = ["".join(chance.choices(letters, k=chance.randint(2, 10))) for _ in range(_WORDS)]
    # The second word is half as frequent as the first, the third a third, as in natural language.
    often = list(accumulate(1 / (rank + 1) for rank in range(_WORDS)))
    sentences = [chance.choices(words, cum_weights=often, k=chance.randint(8, 12)) for _ in range(_SENTENCES)]
    values = [" ".join(sentence).capitalize().encode() for sentence in sentences]
    return Block([None] * _SENTENCES, values, sentences)


def _keys(size: int) -> Block:
    factor, square = permutation(size)
    places = [(n * factor + n * n * square) % size for n in range(size)]
    names = [f"key-{place}" for place in places]
    values = [struct.pack(">q", place) for place in places]
    return Block([name.encode() for name in names], values, [[name] for name in names])


def _orders() -> Block:
    keys: list[bytes | None] = []
    values, results = [], []
    for key, order in _made_orders():
        keys.append(key)
        values.append(_text(order))
        projected = _project(order)
        results.append([as_result(key, _text(projected))] if projected else [])
    return Block(keys, values, results)


def _projected() -> Block:
    found = [(key, projected) for key, order in _made_orders() if (projected := _project(order))]
    values = [_text(projected) for _, projected in found]
    return Block([key for key, _ in found], values, [[] for _ in found])


def _made_orders() -> list[tuple[bytes, dict[str, object]]]:
    chance = random.Random(2)
    made = []
    for number in range(_ORDERS):
        customer = f"customer-{chance.randrange(1000)}"
        order = {
            "order": number,
            "customer": customer,
            "item": f"item-{chance.randrange(500)}",
            "quantity": chance.randint(1, 9),
            "price": chance.randint(4, 400) / 4,
            "country": chance.choice(["NL", "DE", "FR", "IT", "ES"]),
            "express": chance.random() < 0.2,
        }
        made.append((customer.encode(), order))
    return made


def _project(order: dict[str, object]) -> dict[str, object] | None:
    quantity, price = order["quantity"], order["price"]
    assert isinstance(quantity, int)
    assert isinstance(price, float)
    if quantity < LEAST_QUANTITY:
        return None
    return {"order": order["order"], "customer": order["customer"], "total": quantity * price}


def _text(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
