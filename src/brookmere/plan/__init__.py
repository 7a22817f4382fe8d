"""Turns a topology into stages: what runs before the first exchange, and what runs behind each."""

from brookmere.plan.explain import explain, to_json, to_mermaid
from brookmere.plan.stages import Plan, Stage, plan

__all__ = ["Plan", "Stage", "explain", "plan", "to_json", "to_mermaid"]
