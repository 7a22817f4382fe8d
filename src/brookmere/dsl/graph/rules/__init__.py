"""Turns the optimization setting into the rules that rewrite a program's graph, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from brookmere.dsl.arguments.checks import refuse
from brookmere.dsl.graph.graph import Rule
from brookmere.dsl.graph.rules import merge_repartitions, reuse_source_topics, self_join
from brookmere.dsl.graph.rules.keep_null_keys import keep_null_keys
from brookmere.dsl.graph.rules.merge_sources import merge_sources
from brookmere.names import nearest

RULES: tuple[tuple[str | None, Rule], ...] = (
    # Not an optimization: one topic can be read by one source only. First, so that a stream which
    # is read twice is one stream for the rules below.
    (None, merge_sources),
    (reuse_source_topics.NAME, reuse_source_topics.reuse_source_topics),
    (merge_repartitions.NAME, merge_repartitions.merge_repartitions),
    # After the repartitions, because two that become one can make one stream of both sides.
    (self_join.NAME, self_join.self_join),
    (self_join.ANY, self_join.any_self_join),
    # Not an optimization either. Last, because it looks at the repartitions there are in the end.
    (None, keep_null_keys),
)

_KNOWN = tuple(name for name, _ in RULES if name is not None)

# Results must not depend on "all"; who wants such a rule, names it.
_CHANGING = (self_join.ANY,)


def rules_for(optimization: str | Sequence[str]) -> list[Rule]:
    """Return the rules to apply for "none", "all", or names of rules, in a list or between commas."""
    words = optimization.split(",") if isinstance(optimization, str) else optimization
    chosen = {word.strip() for word in words}
    for word in chosen - {"none", "all", *_KNOWN}:
        similar = nearest(word, _KNOWN)
        remedy = f"Use none, all, or {', '.join(_KNOWN)}" + (f"; did you mean {similar}?" if similar else "")
        refuse(f"There is no optimization {word!r}", remedy)
    if "all" in chosen:
        chosen.update(name for name in _KNOWN if name not in _CHANGING)
    return [rule for word, rule in RULES if word is None or word in chosen]
