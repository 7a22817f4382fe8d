"""The rules that rewrite the graph of a program, in their order, chosen by `topology.optimization`."""

from __future__ import annotations

from collections.abc import Sequence

from brookmere.dsl.arguments.checks import refuse
from brookmere.dsl.graph.graph import Rule
from brookmere.dsl.graph.rules import merge_repartitions, reuse_source_topics, self_join
from brookmere.dsl.graph.rules.keep_null_keys import keep_null_keys
from brookmere.dsl.graph.rules.merge_sources import merge_sources
from brookmere.names import nearest

RULES: tuple[tuple[str | None, Rule], ...] = (
    # Not an optimization: a topic can be read by one source only. First, so that a stream that
    # is read twice is one stream for the rules below.
    (None, merge_sources),
    (reuse_source_topics.NAME, reuse_source_topics.reuse_source_topics),
    (merge_repartitions.NAME, merge_repartitions.merge_repartitions),
    # After the repartitions, because merging two of them can make both sides the same stream.
    (self_join.NAME, self_join.self_join),
    (self_join.ANY, self_join.any_self_join),
    # Not an optimization either. Last, because it depends on the final repartitions.
    (None, keep_null_keys),
)

_KNOWN = tuple(name for name, _ in RULES if name is not None)

# Not part of "all", because this rule changes results; it must be requested by name.
_CHANGING = (self_join.ANY,)


def rules_for(optimization: str | Sequence[str]) -> list[Rule]:
    """Return the rules for "none", "all", or names of rules, as a list or separated by commas."""
    words = optimization.split(",") if isinstance(optimization, str) else optimization
    chosen = {word.strip() for word in words}
    for word in chosen - {"none", "all", *_KNOWN}:
        similar = nearest(word, _KNOWN)
        remedy = f"Use none, all, or {', '.join(_KNOWN)}" + (f"; did you mean {similar}?" if similar else "")
        refuse(f"There is no optimization {word!r}", remedy)
    if "all" in chosen:
        chosen.update(name for name in _KNOWN if name not in _CHANGING)
    return [rule for word, rule in RULES if word is None or word in chosen]
