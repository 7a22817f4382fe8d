"""Runs programs: compiles a topology for the kernel and runs it as a Spark query in an application."""

from brookmere.run.compile.compiler import Compiled, compile_plan
from brookmere.run.query.dataframes import start_query
from brookmere.run.query.query import Query
from brookmere.run.query.session import spark_session

__all__ = ["Compiled", "Query", "compile_plan", "spark_session", "start_query"]
