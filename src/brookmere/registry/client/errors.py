"""Errors for answers of a registry: what was requested, what it answered, what to do."""

from __future__ import annotations

from typing import Any

from brookmere.errors import IncompatibleSchemaError, RegistryError, UnknownSchemaError

_UNKNOWN_REMEDIES = {
    40401: "Register a schema under this subject first, or correct its name.",
    40402: "Request an existing version, or the latest.",
    40403: "Register the schema first, or use the registry that has the schemas of these records.",
}


def refused(method: str, what: str, url: str, status: int, answer: Any) -> RegistryError:
    """Return the error for an unsuccessful answer."""
    code, words = _said(status, answer)
    verb = {"GET": "give", "POST": "take", "PUT": "set", "DELETE": "delete"}[method]
    head = f"The schema registry {url} did not {verb} {what}."
    found = f"Found: {words} (HTTP status {status}, error code {code})."
    kind, remedy = _blame(status, code)
    return kind(f"{head} {found} {remedy}", status=status, code=code)


def _said(status: int, answer: Any) -> tuple[int, str]:
    if isinstance(answer, dict) and "message" in answer:
        return int(answer.get("error_code", status)), str(answer["message"]).rstrip().removesuffix(".")
    return status, "no explanation" if answer in (None, "") else str(answer)[:500]


def _blame(status: int, code: int) -> tuple[type[RegistryError], str]:
    if code in _UNKNOWN_REMEDIES:
        return UnknownSchemaError, _UNKNOWN_REMEDIES[code]
    if status == 409:
        return IncompatibleSchemaError, (
            "Change the schema so that it is compatible, for example with defaults for its new fields, "
            "or lower the compatibility level of the subject."
        )
    if status in (401, 403):
        return (
            RegistryError,
            "Pass a user and a password with this permission: basic_auth=(user, password).",
        )
    if status == 422:
        return RegistryError, "Correct what the registry reports."
    if status == 404:
        return RegistryError, "Check the address: the server there is not a schema registry."
    return RegistryError, "Try again, or check the registry's log."
