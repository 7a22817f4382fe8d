"""The panels of `brookmere top`: summary, nodes, topics, state and replicas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from brookmere.cli.options.parameters import shown_time
from brookmere.cli.replica.view import NUMBERS, cells
from brookmere.cli.terminal import console
from brookmere.cli.top.status_feed import Watched
from brookmere.state.description.status import NodeStatus, QueryableStatus, Status
from brookmere.topics.times import now_ms

_STYLES = {"running": "green", "failed": "red", "stopped": "yellow"}
_FEWEST_NODES, _FEWEST_STORES = 5, 1


def short(number: float) -> str:
    """Return a number in a few characters.

    >>> short(0), short(2.5), short(812), short(12_345), short(7_200_000)
    ('0', '2.5', '812', '12.3k', '7.20M')
    """
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e4)):
        if number >= size:
            scaled = number / (1e3 if unit == "k" else size)
            return f"{scaled:.{2 if scaled < 10 else 1 if scaled < 100 else 0}f}{unit}"
    return f"{number:.1f}" if 0 < number < 10 and number != int(number) else f"{number:,.0f}"


def screen(seen: Watched, rates: Mapping[str, tuple[float, float]], height: int | None) -> RenderableType:
    """Return all panels, with as many nodes and stores as fit the height; None shows all of them."""
    status = seen.status
    top: list[RenderableType] = [*head(seen), Text("")]
    middle: list[RenderableType] = []
    for table in (inputs(status), state(status)):
        middle += [table, Text("")] if table.row_count else []
    followed = [store for store in status.stores if store.is_followed]
    nodes, replicas = len(status.nodes), len(followed)
    if height is not None:
        free = height - sum(_height(part) for part in (*top, *middle))
        # Both tables have a title line, and an empty line separates them.
        nodes = _fitting(nodes, free - (replicas + 2 if replicas else 0) - 1, _FEWEST_NODES)
        used = nodes + (nodes < len(status.nodes)) + 2 if nodes else 0
        replicas = _fitting(replicas, free - used - 1, _FEWEST_STORES)
    if status.nodes:
        top += [*_nodes(status.nodes, rates, nodes), Text("")]
    bottom = [*_stores(followed, replicas), Text("")] if followed else []
    return Group(*[*top, *middle, *bottom][:-1])


def _height(part: RenderableType) -> int:
    """Return the number of terminal lines that a part takes, including wrapped ones."""
    return len(console.out.render_lines(part, pad=False))


def _fitting(count: int, free: int, fewest: int) -> int:
    """Return how many rows to show; one less if a line has to say that there are more."""
    return count if count <= free else min(count, max(fewest, free - 1))


def head(seen: Watched) -> list[Text]:
    """Return the lines about the application as a whole."""
    status = seen.status
    word = status.state if seen.gone is None else "not running"
    since = "" if status.started is None else f" · since {shown_time(status.started)[:19]} UTC"
    if status.started is not None and seen.is_running:
        since += f" ({timedelta(seconds=max(0, now_ms() - status.started) // 1000)})"
    first = Text.assemble(
        (status.application, "bold"), " ", (word, _STYLES.get(word, "yellow")), f" · pid {status.pid}{since}"
    )
    lines = [first]
    if seen.gone is not None:
        lines.append(Text(f"Not running: {seen.gone}. Last status: {_moment(status.time)}.", style="red"))
    elif not seen.is_running:
        lines.append(Text(f"Not running. Last status: {_moment(status.time)}.", style="yellow"))
    if status.batch is None:
        lines.append(Text("No batch processed yet."))
    else:
        lines.append(
            Text(
                f"batch {status.batch:,} ({status.batch_records:,} records, {status.batch_ms:,} ms) · "
                f"{short(status.records_per_second if seen.is_running else 0)} records/s · "
                f"lag {status.lag:,}"
            )
        )
        lines.append(
            Text(
                f"{console.counted(status.records, 'record')} · {status.late:,} late · "
                f"{status.dropped:,} dropped · {status.skipped:,} failed and skipped · "
                f"state {console.size(status.state_bytes)}"
            )
        )
    if status.error is not None:
        lines.append(Text(status.error, style="red"))
    return lines


def _nodes(
    nodes: Sequence[NodeStatus], rates: Mapping[str, tuple[float, float]], most: int
) -> list[RenderableType]:
    numbers = ("IN/S", "OUT/S", "IN", "OUT", "LATE", "DROPPED", "FAILED")
    table = console.table("NODE", *numbers, numbers=numbers)
    # A narrow terminal truncates names, never numbers.
    table.columns[0].overflow = "ellipsis"
    for column in table.columns[1:]:
        column.no_wrap = True
    shown = nodes[:most]
    for node in shown:
        rate = [short(number) for number in rates.get(node.name, ())] or ["-", "-"]
        counts = [short(number) for number in (node.received, node.forwarded, node.late, node.dropped)]
        failed = Text(short(node.failed), style="red" if node.failed else "")
        table.add_row(node.name, *rate, *counts, failed)
    return [table, *_more(len(nodes) - len(shown), "node")]


def _more(hidden: int, noun: str) -> list[Text]:
    return [Text(f"and {console.counted(hidden, f'more {noun}')}", style="dim")] if hidden else []


def inputs(status: Status) -> Table:
    """Return a table of the input topics."""
    numbers = ("PARTITIONS", "READ", "END", "LAG")
    table = console.table("TOPIC", *numbers, "UP TO (UTC)", numbers=numbers)
    for each in status.inputs:
        table.add_row(
            each.topic,
            f"{len(each.position)}",
            f"{sum(each.position):,}",
            f"{sum(each.end):,}",
            Text(f"{each.lag:,}", style="yellow" if each.lag else ""),
            "-" if each.time is None else shown_time(each.time),
        )
    return table


def state(status: Status) -> Table:
    """Return a table of the application's state."""
    numbers = ("ROWS", "SIZE")
    table = console.table("STATE", *numbers, numbers=numbers)
    for stage in status.stages:
        if stage.stores or stage.rows:
            names = ", ".join(stage.stores) or f"stage {stage.number}"
            # Some stores do not count their rows.
            table.add_row(names, f"{stage.rows:,}" if stage.rows else "-", console.size(stage.bytes))
    return table


def _stores(followed: Sequence[QueryableStatus], most: int) -> list[RenderableType]:
    """Return a table of the replicas in the application's process."""
    table = console.table("REPLICA OF", "KIND", *NUMBERS, "STATE", numbers=NUMBERS)
    for each in followed[:most]:
        table.add_row(*cells(each), "ready" if each.is_ready else "catching up")
    return [table, *_more(len(followed) - most, "store")]


def _moment(milliseconds: int) -> str:
    return f"{shown_time(milliseconds)[:19]} UTC"
