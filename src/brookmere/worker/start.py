"""Starts a worker without loading the whole package. It runs as text, before the package can be imported."""

import importlib.util
import sys

_spec = importlib.util.find_spec("brookmere")
if _spec is None or _spec.loader is None:
    sys.exit(
        "This process runs Python code of a Brookmere program, but the package brookmere is not installed"
    )
_package = importlib.util.module_from_spec(_spec)
_loader = _spec.loader


def _load(name: str) -> object:
    """Load the whole package when one of its names is first used."""
    if name.startswith("__"):
        raise AttributeError(name)
    del _package.__dict__["__getattr__"]
    _loader.exec_module(_package)
    return getattr(_package, name)


_package.__dict__["__getattr__"] = _load
sys.modules["brookmere"] = _package

from brookmere.worker.__main__ import main  # noqa: E402 - the package must be prepared first

main()
