"""Sends requests to a registry over HTTP and HTTPS."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from brookmere.errors import RegistryError
from brookmere.registry.client.transport import Access, without_user
from brookmere.registry.server.rest import CONTENT_TYPE

_ACCEPTED = f"{CONTENT_TYPE}, application/vnd.schemaregistry+json; q=0.9, application/json; q=0.8"
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_AWAY = (502, 503, 504)


class Http:
    """Sends requests over HTTP or HTTPS; if one address does not answer, it tries the next one."""

    def __init__(self, access: Access) -> None:
        self._access = access
        handlers: list[urllib.request.BaseHandler] = []
        if any(address.startswith("https:") for address in access.addresses):
            handlers.append(urllib.request.HTTPSHandler(context=_tls(access)))
        self._direct = urllib.request.build_opener(urllib.request.ProxyHandler({}), *handlers)
        self._opener = urllib.request.build_opener(*handlers)

    def send(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return the status and the JSON of the answer; raise RegistryError if no address answers."""
        problems: list[str] = []
        for address in self._access.addresses:
            shown, credentials = without_user(address)
            request = self._request(shown, credentials or self._access.basic_auth, method, path, body)
            opener = self._direct if urlsplit(shown).hostname in _LOOPBACK else self._opener
            try:
                with opener.open(request, timeout=self._access.timeout) as answer:
                    return answer.status, _content(answer.read())
            except urllib.error.HTTPError as refusal:
                with refusal:
                    content = _content(refusal.read())
                if refusal.code not in _AWAY:
                    return refusal.code, content
                problems.append(f"{shown}: HTTP status {refusal.code}")
            except (OSError, http.client.HTTPException) as failure:
                problems.append(f"{shown}: {_cause(failure)}")
        raise RegistryError(
            f"The schema registry {self._access.shown} does not answer. Found: {'; '.join(problems)}. "
            "Start it (`brookmere registry up` starts one for development), or correct its address."
        )

    def _request(
        self, address: str, credentials: tuple[str, str] | None, method: str, path: str, body: Any
    ) -> urllib.request.Request:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address + path, data=data, method=method)
        request.add_header("Accept", _ACCEPTED)
        if data is not None:
            request.add_header("Content-Type", CONTENT_TYPE)
        if credentials is not None:
            token = base64.b64encode(":".join(credentials).encode()).decode()
            request.add_unredirected_header("Authorization", f"Basic {token}")
        return request


def _tls(access: Access) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=access.ca_file)
        if access.cert_file is not None:
            context.load_cert_chain(access.cert_file, access.key_file)
    except OSError as failure:
        named = access.ca_file if access.cert_file is None else f"{access.ca_file} or {access.cert_file}"
        raise RegistryError(
            f"The certificates for the schema registry cannot be read. Found: {named}: {failure}. "
            "Pass files in PEM format: ca_file=, cert_file= and key_file=."
        ) from failure
    return context


def _content(data: bytes) -> Any:
    try:
        return json.loads(data) if data else None
    except ValueError:
        return data.decode(errors="replace")


def _cause(failure: Exception) -> str:
    if isinstance(failure, urllib.error.URLError):
        return str(failure.reason)
    return str(failure) or type(failure).__name__
