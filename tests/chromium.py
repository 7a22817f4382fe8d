"""Starts a Chromium without a window: the machine's own, or one from Debian's packages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.debian_packages import libraries, unpacked

_INSTALLED = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
_PACKAGE = "chromium-headless-shell"
_PROGRAM = "usr/lib/chromium/chromium-headless-shell"


@contextmanager
def launched() -> Iterator[Browser]:
    """Give a browser that ends with the block.

    Raises:
        NotFetchedError: none is installed, and none can be fetched.
    """
    program, environment = _find()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, env={**os.environ, **environment})
        yield browser
        browser.close()


def _find() -> tuple[Path, dict[str, str]]:
    for name in _INSTALLED:
        if (found := shutil.which(name)) is not None:
            return Path(found), {}
    place = unpacked(_PACKAGE, _PROGRAM)
    return place / _PROGRAM, libraries(place)
