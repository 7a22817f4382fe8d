from __future__ import annotations

from brookmere.run.compile.operators import ADD
from brookmere.topology import operators as op
from tests.topology.test_operator_facts import CLASSES

ONLY_IN_PYTHON = {op.Process}


def test_every_operator_is_registered_with_the_compiler() -> None:
    missing = [each.__name__ for each in CLASSES if each not in ADD and each not in ONLY_IN_PYTHON]

    assert not missing
