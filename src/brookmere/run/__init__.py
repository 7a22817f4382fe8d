"""Turns a topology into a running Spark query: the only folder that assembles one."""

from brookmere.run.compile.compiler import Compiled, compile_plan
from brookmere.run.query.query import Query, assemble
from brookmere.run.query.session import spark_session

__all__ = ["Compiled", "Query", "assemble", "compile_plan", "spark_session"]
