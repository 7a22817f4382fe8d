"""Turns skipped records into lines of the log: a handful per second, the others counted."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable

from brookmere.errors import RecordError

logger = logging.getLogger(__name__)

_PER_SECOND = 5


class SkippedLog:
    """Logs skipped records as warnings."""

    def __init__(self, application: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._application = application
        self._clock = clock
        self._second = clock()
        self._logged = 0
        self._withheld = 0

    def add(self, errors: Iterable[RecordError]) -> None:
        """Log what was skipped, and now and then how many records were not told one by one."""
        if self._clock() - self._second >= 1.0:
            self.flush()
            self._second, self._logged = self._clock(), 0
        for error in errors:
            if self._logged < _PER_SECOND:
                logger.warning("%s skipped a record. %s", self._application, error)
                self._logged += 1
            else:
                self._withheld += 1

    def flush(self) -> None:
        """Tell how many records were skipped without a line of their own."""
        if self._withheld:
            logger.warning("%s skipped %d more records", self._application, self._withheld)
            self._withheld = 0
