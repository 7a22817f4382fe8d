"""Options of the HTTP server, which `run`, `replica` and `serve` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brookmere.cli.options.tokens import read_token
from brookmere.cli.programs.load import Found
from brookmere.cli.terminal import console

if TYPE_CHECKING:
    from brookmere.cli.programs.applications import Known
    from brookmere.run.application import Application
    from brookmere.serve import Server
    from brookmere.state import Replica


@dataclass(frozen=True, slots=True)
class Serving:
    """The address to serve at, the program's routes, and the token."""

    address: str
    token: str | None
    routes: tuple[Any, ...]
    found: Found | None

    def replica(self, known: Known, replica: Replica) -> Server:
        """Serve a replica, and the program's routes if there is a program."""
        from brookmere.cli.programs.load import built
        from brookmere.serve import serve_replica
        from brookmere.state.description.status import read_status

        program = None if self.found is None else self.found.program
        return serve_replica(
            replica,
            known.topics(),
            self.address,
            status=lambda: read_status(known.directory),
            topology=None if program is None else built(program, known.config.topology_optimization),
            routes=self.routes,
            token=self.token,
        )

    def application(self, application: Application) -> Server:
        """Serve a running application."""
        from brookmere.serve import serve

        return serve(application, self.address, routes=self.routes, token=self.token)


def prepared(address: str, token_file: Path | None, found: Found | None) -> Serving:
    """Validate the options of a server before anything is started.

    Raises:
        ConfigError: the address is invalid, or the program's routes cannot be served.
        ServerError: the address is already in use.
        CommandError: the token file contains no token.
    """
    # The web framework is slow to import, which other commands should not pay for.
    from brookmere.serve.routes.own_routes import check_routes
    from brookmere.serve.start import check_address

    token = read_token(token_file)
    routes = _routes(found)
    check_routes(routes)
    check_address(address)
    return Serving(address, token, routes, found)


def announce(server: Server, application: str) -> None:
    """Print the URL of a server."""
    console.say(f"{application}: serving at {server.url}; the API is described at {server.url}/docs")


def _routes(found: Found | None) -> tuple[Any, ...]:
    """Return the `routes` of the program's module: a router or a list of them."""
    given = None if found is None else getattr(found.module, "routes", None)
    if given is None:
        return ()
    return tuple(given) if isinstance(given, list | tuple) else (given,)
