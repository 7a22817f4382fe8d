"""Runs the command line: `python -m brookmere`."""

from brookmere.cli.main import main

if __name__ == "__main__":
    main()
