"""The OpenAPI document tells the types of each store, and every answer is as it says."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode, checks

from brookmere.serve import Server

CHECKED = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
SETTINGS = settings(
    max_examples=8,
    derandomize=True,
    database=None,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def document(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get("/openapi.json").json()
    return found


def test_a_store_has_routes_with_its_types(document: dict[str, Any]) -> None:
    row = document["components"]["schemas"]["people.row"]
    key = document["paths"]["/stores/people/{key}"]["get"]

    assert row["properties"]["value"]["properties"]["name"] == {
        "anyOf": [{"type": "string"}, {"type": "null"}]
    }
    assert row["properties"]["key"] == {"type": "integer", "format": "int64"}
    [parameter] = [one for one in key["parameters"] if one["in"] == "path"]
    assert parameter["schema"] == {"type": "integer", "format": "int64"}
    schema = key["responses"]["200"]["content"]["application/json"]["schema"]
    assert schema == {"$ref": "#/components/schemas/people.row"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/stores/totals", {"lower", "upper", "prefix", "reverse", "limit", "cursor", "at_least", "timeout"}),
        ("/stores/totals/{key}", {"key", "at_least", "timeout"}),
        ("/stores/views", {"start", "end", "reverse", "limit", "cursor", "at_least", "timeout"}),
        ("/stores/prices", {"reverse", "limit", "cursor", "at_least", "timeout"}),
        (
            "/stores/prices/{key}",
            {"key", "as_of", "start", "end", "reverse", "limit", "cursor", "at_least", "timeout"},
        ),
    ],
)
def test_a_store_has_the_parameters_of_its_kind(
    document: dict[str, Any], path: str, expected: set[str]
) -> None:
    assert {one["name"] for one in document["paths"][path]["get"]["parameters"]} == expected


def test_operations_have_names_of_their_own(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for item in document["paths"].values() for operation in item.values()]

    assert len(names) == len(set(names))


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_answer_to_made_up_requests_is_as_the_document_says(
    server: Server, mode: GenerationMode
) -> None:
    schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
    asked = 0

    for result in schema.get_all_operations():
        operation = result.ok()
        if mode is GenerationMode.NEGATIVE and not len(operation.query):
            # Any text is a path, so nothing there is wrong by its form.
            continue

        @settings(SETTINGS)
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: schemathesis.Case) -> None:
            nonlocal asked
            asked += 1
            if case.path.startswith("/updates"):
                # A stream would not end.
                case.query = {**(case.query or {}), "seconds": 0}
            case.call_and_validate(checks=CHECKED)

        ask()

    assert asked > 100
