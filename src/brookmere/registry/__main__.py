"""Runs a registry in this process: `python -m brookmere.registry --dir DIR --port PORT`."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

from brookmere.errors import RegistryError
from brookmere.registry.server.daemon import default_registry_directory, run_here
from brookmere.registry.server.server import DEFAULT_PORT


def main() -> None:
    """Run a registry until SIGTERM or Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m brookmere.registry", description=__doc__)
    parser.add_argument("--dir", type=Path, default=default_registry_directory())
    parser.add_argument("--port", type=int, default=DEFAULT_PORT)
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    try:
        run_here(options.dir, options.port)
    except RegistryError as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
