"""Models of the responses, for the OpenAPI document only: the JSON is written without them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

Kind = Literal["key_value", "window", "session", "versioned"]
Offsets = dict[str, dict[str, int]]
Time = Annotated[int, Field(description="Milliseconds since 1970 (UTC).")]


class Problem(BaseModel):
    """Why a request failed (RFC 9457)."""

    type: str = Field(description="The kind of problem, such as no-such-key.")
    title: str
    status: int
    detail: str = Field(description="What is wrong, what was found, and what to do.")


class StoreSummary(BaseModel):
    """A store and the state of its replica."""

    name: str
    kind: Kind
    topic: str = Field(description="The changelog, or the source topic of the table.")
    key: str = Field(description="The form of keys in a URL.")
    entries: int = Field(description="The estimated number of rows.")
    bytes: int
    lag: int = Field(description="The lag behind the changelog, in records.")
    position: Offsets = Field(description="By topic and partition, the offset after the last record.")
    ready: bool
    error: str | None = None


class StoreList(BaseModel):
    """All stores that can be queried here."""

    stores: list[StoreSummary]


class WindowedKey(BaseModel):
    """A key with its window."""

    key: Any
    start: Time
    end: Time


class Row(BaseModel):
    """A row of a store."""

    key: Any = Field(description="In window and session stores, an object with key, start and end.")
    value: Any
    timestamp: Time
    until: int | None = Field(
        None, description="Of a version: when the next one replaced it; null while it is valid."
    )


class Page(BaseModel):
    """Rows, and the cursor of the next page."""

    rows: list[Row]
    cursor: str | None = Field(description="Pass it as cursor= to get the next page; null on the last page.")
    lag: int
    checked_at: int = Field(description="When the replica last polled the changelog; -1 means never.")


class Health(BaseModel):
    """Whether the process is healthy."""

    status: Literal["ok", "waiting"] = Field(
        description="waiting: for a topic to exist, or for Kafka to respond."
    )
    error: str | None = None


class Readiness(BaseModel):
    """All stores can be queried."""

    status: Literal["ready"]


class ReplicaStore(BaseModel):
    """A store of a replica."""

    name: str
    partitions: list[int]
    lag: int
    ready: bool


class Replica(BaseModel):
    """A replica that serves HTTP."""

    name: str
    address: str = Field(description="Host and port.")
    since: Time
    is_self: bool = Field(description="Whether it is the replica that responds.")
    stores: list[ReplicaStore]


class Replicas(BaseModel):
    """The live replicas of the application."""

    application: str
    replicas: list[Replica]


class KeyPlace(BaseModel):
    """Which replicas have the row of a key."""

    store: str
    key: Any
    partition: int | None = Field(description="The partition of the key's hash; null in a global store.")
    replicas: list[Replica]
