"""The Protocol of the program builder is that of the Scala class."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import brookmere
from brookmere.run import program_builder
from brookmere.run.jvm import camel_case
from brookmere.run.program_builder import ProgramBuilder
from tests.run.java_border import assert_same_class, assert_same_method, java_class

PROGRAM = Path(brookmere.__file__).parent / "kernel" / "program"
TRAITS = ("StreamNodes", "TableNodes", "WindowNodes", "JoinNodes", "LookupTables", "PythonNodes")
METHODS = {name: method for name, method in vars(ProgramBuilder).items() if not name.startswith("_")}
SPECS = [each for each in vars(program_builder).values() if hasattr(each, "java_class")]


@pytest.fixture(scope="module")
def builder(spark: SparkSession) -> Any:
    return java_class(spark._jvm, "brookmere.kernel.program.ProgramBuilder")


@pytest.mark.parametrize("name", METHODS)
def test_method_has_the_parameters_of_the_scala_method(builder: Any, name: str) -> None:
    assert_same_method(builder, name, METHODS[name])


@pytest.mark.parametrize("spec", SPECS, ids=lambda each: each.__name__)
def test_dataclass_has_the_fields_of_the_scala_class(spark: SparkSession, spec: Any) -> None:
    assert_same_class(spark._jvm, spec)


def test_every_public_scala_method_is_in_the_protocol() -> None:
    texts = [(PROGRAM / f"{name}.scala").read_text() for name in ("ProgramBuilder", *TRAITS)]
    public = {name for text in texts for name in re.findall(r"^  def (\w+)", text, flags=re.MULTILINE)}

    assert public == {camel_case(name) for name in METHODS}


def test_every_spec_in_scala_has_a_dataclass() -> None:
    text = (PROGRAM / "NodeSpecs.scala").read_text()
    declared = set(re.findall(r"^final case class (\w+)", text, flags=re.MULTILINE))

    assert declared <= {each.__name__ for each in SPECS}
