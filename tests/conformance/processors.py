"""Turns the processors of scenarios into classes: what Kafka Streams was recorded with, word for word."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

import brookmere as bm
from tests.conformance.python_words import Text, function, number, text, told
from tests.conformance.words import UnknownWordError, split_spec


class _Told(bm.Processor):
    """Knows the argument of its word and the store that the scenario gives it."""

    def __init__(self, argument: str, store: str | None) -> None:
        self.argument = argument
        self.store_name = store
        self.store: Any = None

    def init(self, context: Any) -> None:
        super().init(context)
        if self.store_name is not None:
            self.store = context.store(self.store_name)


class _Values(_Told):
    """Answers a record with new values."""

    def process(self, record: bm.Record) -> None:
        for value in self.values(text(record.key), text(record.value)):
            self.context.forward(record.with_value(value))

    def values(self, key: Text, value: Text) -> Iterable[Text]:
        raise NotImplementedError


class _Dedupe(_Values):
    def values(self, key: Text, value: Text) -> Iterable[Text]:
        if key is not None and value != self.store.get(key):
            self.store.put(key, value)
            yield value


class _RunningCount(_Values):
    def values(self, key: Text, value: Text) -> Iterable[Text]:
        if key is not None:
            count = number(self.store.get(key)) + 1
            self.store.put(key, str(count))
            yield f"{told(value)}#{count}"


class _Twice(_Values):
    def values(self, key: Text, value: Text) -> Iterable[Text]:
        yield told(value) + "1"
        yield told(value) + "2"


class _StreamTime(_Values):
    def values(self, key: Text, value: Text) -> Iterable[Text]:
        yield f"{told(value)}@{self.context.stream_time}"


class _Rekey(_Told):
    def process(self, record: bm.Record) -> None:
        self.context.forward(record.with_key(function(self.argument)(record.key, record.value)))


class _ShiftTime(_Told):
    def process(self, record: bm.Record) -> None:
        self.context.forward(record.with_timestamp(max(0, record.timestamp + int(self.argument))))


class _AddHeader(_Told):
    def process(self, record: bm.Record) -> None:
        name, _, content = self.argument.partition("=")
        self.context.forward(record.with_header(name, content.encode()))


class _DropHeaders(_Told):
    def process(self, record: bm.Record) -> None:
        self.context.forward(record.with_headers(()))


class _Sweep(_Told):
    """Keeps the last value of each key, and forwards all of them when it is time."""

    def process(self, record: bm.Record) -> None:
        if record.key is not None:
            self.store.put(text(record.key), text(record.value))

    def sweep(self, now: int) -> None:
        for key, value in list(self.store.all()):
            self.context.forward(bm.Record(key, f"{value}!{now}", now))


class _SweepByStreamTime(_Sweep):
    def init(self, context: Any) -> None:
        super().init(context)
        context.schedule(timedelta(milliseconds=int(self.argument)), "stream_time", self.sweep)


class _SweepByWallClock(_Sweep):
    def init(self, context: Any) -> None:
        super().init(context)
        context.schedule(timedelta(milliseconds=int(self.argument)), "wall_clock", self.sweep)


class _DedupeValues(_Dedupe, bm.FixedKeyProcessor):
    pass


class _RunningCountValues(_RunningCount, bm.FixedKeyProcessor):
    pass


class _TwiceValues(_Twice, bm.FixedKeyProcessor):
    pass


class _StreamTimeValues(_StreamTime, bm.FixedKeyProcessor):
    pass


_WORDS: dict[str, type[_Told]] = {
    "dedupe": _Dedupe,
    "running_count": _RunningCount,
    "twice": _Twice,
    "stream_time": _StreamTime,
    "rekey": _Rekey,
    "shift_time": _ShiftTime,
    "add_header": _AddHeader,
    "drop_headers": _DropHeaders,
    "punctuate_stream_time": _SweepByStreamTime,
    "punctuate_wall_clock": _SweepByWallClock,
}
_WORDS_OF_VALUES: dict[str, type[_Told]] = {
    "dedupe": _DedupeValues,
    "running_count": _RunningCountValues,
    "twice": _TwiceValues,
    "stream_time": _StreamTimeValues,
}
_NEW_KEYS = frozenset({"rekey", "punctuate_stream_time", "punctuate_wall_clock"})


def supplier(spec: str, store: str | None, *, fixed_key: bool = False) -> Callable[[], bm.Processor]:
    """Return what makes the processor of a word."""
    word, argument = split_spec(spec)
    known = _WORDS_OF_VALUES if fixed_key else _WORDS
    if word not in known:
        raise UnknownWordError(f"processor {spec}")
    kind = known[word]
    return lambda: kind(argument, store)


def gives_text_keys(spec: str) -> bool:
    """Tell whether the keys that a processor forwards are texts of its own."""
    return split_spec(spec)[0] in _NEW_KEYS


def keeps_values(spec: str) -> bool:
    """Tell whether a processor leaves values alone."""
    return split_spec(spec)[0] in ("rekey", "shift_time", "add_header", "drop_headers")


def stores(name: str | None) -> tuple[Any, ...]:
    """Return the store of a processor, from text to text."""
    return () if name is None else (bm.key_value_store(name, key=bm.Text(), value=bm.Text()),)
