"""Every way in which a registry refuses a request, with Confluent's codes and messages."""

from __future__ import annotations

from collections.abc import Sequence


class Refusal(Exception):  # noqa: N818 - an answer of the registry, which never leaves it
    """A refused request: the HTTP status, the error code and the message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.status = code if code < 1000 else code // 100
        self.message = message


def unknown_subject(subject: str) -> Refusal:
    """There is no such subject."""
    return Refusal(40401, f"Subject '{subject}' not found.")


def unknown_version(version: int | str) -> Refusal:
    """The subject has no such version."""
    return Refusal(40402, f"Version {version} not found.")


def unknown_schema(id: int | None = None) -> Refusal:
    """There is no such schema."""
    return Refusal(40403, "Schema not found" if id is None else f"Schema {id} not found")


def subject_soft_deleted(subject: str) -> Refusal:
    """The subject is already soft-deleted."""
    return Refusal(40404, f"Subject '{subject}' was soft deleted. Set permanent=true to delete permanently")


def subject_not_soft_deleted(subject: str) -> Refusal:
    """A subject must be soft-deleted before it is deleted permanently."""
    return Refusal(40405, f"Subject '{subject}' was not deleted first before being permanently deleted")


def version_soft_deleted(subject: str, version: int) -> Refusal:
    """The version is already soft-deleted."""
    return Refusal(
        40406,
        f"Subject '{subject}' Version {version} was soft deleted. Set permanent=true to delete permanently",
    )


def version_not_soft_deleted(subject: str, version: int) -> Refusal:
    """A version must be soft-deleted before it is deleted permanently."""
    return Refusal(
        40407, f"Subject '{subject}' Version {version} was not deleted first before being permanently deleted"
    )


def no_subject_level(subject: str) -> Refusal:
    """The subject has no compatibility level of its own."""
    return Refusal(40408, f"Subject '{subject}' does not have subject-level compatibility configured")


def no_subject_mode(subject: str) -> Refusal:
    """The subject has no mode of its own."""
    return Refusal(40409, f"Subject '{subject}' does not have subject-level mode configured")


def invalid_schema(reason: str) -> Refusal:
    """The schema is not valid."""
    return Refusal(42201, f"Invalid schema: {reason}")


def invalid_version(version: str) -> Refusal:
    """The version is not a number."""
    return Refusal(
        42202,
        f"The specified version '{version}' is not a valid version id. "
        'Allowed values are between [1, 2^31-1] and the string "latest"',
    )


def invalid_level() -> Refusal:
    """There is no such compatibility level."""
    return Refusal(
        42203,
        "Invalid compatibility level. Valid values are none, backward, forward, full, "
        "backward_transitive, forward_transitive, and full_transitive",
    )


def invalid_mode() -> Refusal:
    """There is no such mode."""
    return Refusal(42204, "Invalid mode. Valid values are READWRITE, READONLY, READONLY_OVERRIDE and IMPORT")


def not_permitted(reason: str) -> Refusal:
    """The mode forbids it."""
    return Refusal(42205, reason)


def referenced(subject: str, version: int) -> Refusal:
    """Another schema still refers to this one."""
    return Refusal(
        42206, f"One or more references exist to the schema {{subject={subject},version={version}}}"
    )


def incompatible(subject: str, level: str, reasons: Sequence[str]) -> Refusal:
    """The schema is not compatible with earlier ones."""
    return Refusal(
        409,
        f'Schema being registered is incompatible with an earlier schema for subject "{subject}", '
        f"details: [{', '.join(reasons)}, {{compatibility: '{level}'}}]",
    )


def unreadable(reason: str) -> Refusal:
    """The body of a request is not valid."""
    return Refusal(422, reason)


def unknown_path() -> Refusal:
    """The REST interface has no such path."""
    return Refusal(404, "HTTP 404 Not Found")


def unknown_method() -> Refusal:
    """The path does not support this method."""
    return Refusal(405, "HTTP 405 Method Not Allowed")
