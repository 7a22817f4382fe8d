"""Starts a worker without loading what only a program needs: it runs as text, before the package is there."""

import importlib.util
import sys

_spec = importlib.util.find_spec("brookmere")
if _spec is None or _spec.loader is None:
    sys.exit("Python code of a Brookmere program runs here, but there is no package brookmere")
_package = importlib.util.module_from_spec(_spec)
_loader = _spec.loader


def _load(name: str) -> object:
    """Load the package as a whole when the first of its names is asked for."""
    if name.startswith("__"):
        raise AttributeError(name)
    del _package.__dict__["__getattr__"]
    _loader.exec_module(_package)
    return getattr(_package, name)


_package.__dict__["__getattr__"] = _load
sys.modules["brookmere"] = _package

from brookmere.worker.__main__ import main  # noqa: E402 - the package must be prepared first

main()
