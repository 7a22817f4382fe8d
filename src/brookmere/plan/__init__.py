"""Plans a topology: its stages, and the exchanges between them."""

from brookmere.plan.explain import explain, to_json, to_mermaid
from brookmere.plan.stages import Plan, Stage, plan

__all__ = ["Plan", "Stage", "explain", "plan", "to_json", "to_mermaid"]
