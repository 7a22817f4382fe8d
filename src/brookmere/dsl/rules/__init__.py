"""Turns the optimization setting into the rules that rewrite a program's graph, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from brookmere.dsl.arguments import refuse
from brookmere.dsl.graph import Rule
from brookmere.dsl.rules.merge_repartitions import merge_repartitions
from brookmere.dsl.rules.merge_sources import merge_sources
from brookmere.dsl.rules.reuse_source_topics import reuse_source_topics
from brookmere.errors import nearest

REUSE = "reuse.ktable.source.topics"
MERGE = "merge.repartition.topics"
SELF_JOIN = "single.store.self.join"

RULES: tuple[tuple[str | None, Rule], ...] = (
    # Not an optimization: one topic can be read by one source only. First, so that a stream which
    # is read twice is one stream for the rules below.
    (None, merge_sources),
    (REUSE, reuse_source_topics),
    # Last, because it moves steps of which the rules above keep lists.
    (MERGE, merge_repartitions),
)

# SELF_JOIN rewrites joins of streams; a program without them is the same with and without it.
_KNOWN = (REUSE, MERGE, SELF_JOIN)


def rules_for(optimization: str | Sequence[str]) -> list[Rule]:
    """Return the rules to apply for "none", "all", or names of rules, in a list or between commas."""
    words = optimization.split(",") if isinstance(optimization, str) else optimization
    chosen = {word.strip() for word in words}
    for word in chosen - {"none", "all", *_KNOWN}:
        similar = nearest(word, _KNOWN)
        remedy = f"Use none, all, or {', '.join(_KNOWN)}" + (f"; did you mean {similar}?" if similar else "")
        refuse(f"There is no optimization {word!r}", remedy)
    if "all" in chosen:
        chosen.update(_KNOWN)
    return [rule for word, rule in RULES if word is None or word in chosen]
