"""Turns the options of a server into one that answers for a replica or an application, or into an error."""

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
    """Where to serve, what besides the stores, and for whom."""

    address: str
    token: str | None
    routes: tuple[Any, ...]
    found: Found | None

    def replica(self, known: Known, replica: Replica) -> Server:
        """Serve a replica, with the program's own routes if there is a program."""
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
        """Serve an application that runs."""
        from brookmere.serve import serve

        return serve(application, self.address, routes=self.routes, token=self.token)


def prepared(address: str, token_file: Path | None, found: Found | None) -> Serving:
    """Return how to serve; what cannot work is told now, before anything has started.

    Raises:
        ConfigError: the address is none, or the program's own routes cannot be served.
        ServerError: something else listens at the address.
        CommandError: there is no token in its file.
    """
    # The web framework takes a while to load, which the other commands need not wait for.
    from brookmere.serve.routes.own_routes import check_routes
    from brookmere.serve.start import check_address

    token = read_token(token_file)
    routes = _routes(found)
    check_routes(routes)
    check_address(address)
    return Serving(address, token, routes, found)


def tell(server: Server, application: str) -> None:
    """Say where a server answers."""
    console.say(f"{application}: {server.url} answers, and {server.url}/docs tells what can be asked")


def _routes(found: Found | None) -> tuple[Any, ...]:
    """Return the program's own routes: what its module calls `routes`, a router or a list of them."""
    given = None if found is None else getattr(found.module, "routes", None)
    if given is None:
        return ()
    return tuple(given) if isinstance(given, list | tuple) else (given,)
