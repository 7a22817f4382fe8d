"""Silenced loggers log nothing inside the block, and are unchanged afterwards."""

from __future__ import annotations

import logging

import pytest

from brookmere.run.expressions.faults import silenced


def test_loggers_are_silent_inside_and_as_before_afterwards(caplog: pytest.LogCaptureFixture) -> None:
    loud, silent = logging.getLogger("tests.loud"), logging.getLogger("tests.silent")
    silent.disabled = True

    with silenced([loud, silent]):
        loud.warning("inside")
    loud.warning("afterwards")
    silent.warning("never")

    assert caplog.messages == ["afterwards"]


def test_loggers_speak_again_after_a_failure() -> None:
    logger = logging.getLogger("tests.failing")

    with pytest.raises(ZeroDivisionError), silenced([logger]):
        logger.warning(1 / 0)

    assert not logger.disabled
