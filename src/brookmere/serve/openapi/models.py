"""Says what the answers look like, for the OpenAPI document: their JSON is written without these models."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

Kind = Literal["key_value", "window", "session", "versioned"]
Offsets = dict[str, dict[str, int]]
Time = Annotated[int, Field(description="Milliseconds since 1970 (UTC).")]


class Problem(BaseModel):
    """Why a request has no other answer (RFC 9457)."""

    type: str = Field(description="Tells problems apart, such as no-such-key.")
    title: str
    status: int
    detail: str = Field(description="What is wrong, what was found, what to do about it.")


class StoreSummary(BaseModel):
    """A store, and how far its replica is."""

    name: str
    kind: Kind
    topic: str = Field(description="The changelog, or the topic that the table is read from.")
    key: str = Field(description="How keys are written in a URL.")
    entries: int = Field(description="How many rows there are, about.")
    bytes: int
    lag: int = Field(description="How many records of the changelog are missing.")
    position: Offsets = Field(description="By topic and partition, the offset behind the last record.")
    ready: bool
    error: str | None = None


class StoreList(BaseModel):
    """All stores that can be asked here."""

    stores: list[StoreSummary]


class WindowedKey(BaseModel):
    """A key with its window."""

    key: Any
    start: Time
    end: Time


class Row(BaseModel):
    """A row of a store."""

    key: Any = Field(description="In stores of windows and sessions an object of key, start and end.")
    value: Any
    timestamp: Time
    until: int | None = Field(
        None, description="Of a version: when the next one came; null while it is valid."
    )


class Page(BaseModel):
    """Rows, and where the next ones begin."""

    rows: list[Row]
    cursor: str | None = Field(description="Give it as cursor= to get the next page; null on the last one.")
    lag: int
    checked_at: int = Field(description="When the replica last looked for more; -1 for never.")


class Health(BaseModel):
    """Whether the process works."""

    status: Literal["ok", "waiting"] = Field(description="waiting: for a topic, or for Kafka to answer.")
    error: str | None = None


class Readiness(BaseModel):
    """All stores can be asked."""

    status: Literal["ready"]


class ReplicaStore(BaseModel):
    """A store that a replica has."""

    name: str
    partitions: list[int]
    lag: int
    ready: bool


class Replica(BaseModel):
    """A replica that can be asked over HTTP."""

    name: str
    address: str = Field(description="Host and port.")
    since: Time
    is_self: bool = Field(description="Whether it is the one that answers.")
    stores: list[ReplicaStore]


class Replicas(BaseModel):
    """The replicas of the application that are there."""

    application: str
    replicas: list[Replica]


class KeyPlace(BaseModel):
    """Where the row of a key is."""

    store: str
    key: Any
    partition: int | None = Field(description="That of the key's hash; null in a global store.")
    replicas: list[Replica]
