"""The description of the API, compared with what the API does."""

from typing import Any, cast
from urllib.parse import quote

import jsonschema  # type: ignore[import-untyped]  # it comes with mcp
import pytest
from starlette.testclient import TestClient

from satchel_server._http._endpoints import (
    Endpoint,
    InvalidParameterError,
    Parameter,
    parse_parameters,
)
from satchel_server._http._openapi import SCHEMAS
from satchel_server._http._v1 import all_endpoints, openapi

ENDPOINTS = {endpoint.operation: endpoint for endpoint in all_endpoints()}


def _check(value: object, schema: str) -> None:
    document = {
        "$ref": f"#/components/schemas/{schema}",
        "components": {"schemas": SCHEMAS},
    }
    jsonschema.validate(value, document)


@pytest.mark.parametrize("operation", ENDPOINTS)
def test_an_answer_and_an_example_are_what_the_description_says(
    client: TestClient, operation: str
) -> None:
    endpoint = ENDPOINTS[operation]
    for parameter in endpoint.parameters:
        jsonschema.validate(parameter.example, parameter.schema)
    answer = client.get(_url(endpoint, {"id": "beta", "path": "references/guide.md"}))
    missed = client.get(_url(endpoint, {"id": "nobody", "path": "x"}, "nothing=1"))

    assert answer.status_code == 200
    if endpoint.schema:
        _check(endpoint.example, endpoint.schema)
        _check(answer.json(), endpoint.schema)
    _check(missed.json(), "Error")
    get = cast("Any", openapi())["paths"][endpoint.path]["get"]
    assert str(missed.status_code) in get["responses"]


def test_what_is_found_is_what_the_description_says(client: TestClient) -> None:
    found = client.get("/v1/find?q=beta").json()

    assert found["hits"]
    _check(found, "Hits")


def _url(endpoint: Endpoint, values: dict[str, str], more: str = "") -> str:
    path = endpoint.path
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    query = [
        f"{parameter.name}={quote(str(parameter.example))}"
        for parameter in endpoint.parameters
        if parameter.where == "query"
    ]
    return f"{path}?{'&'.join([*query, more])}" if query or more else path


def test_every_way_to_refuse_is_described() -> None:
    paths = cast("Any", openapi())["paths"]

    assert set(paths["/v1/skills/{id}"]["get"]["responses"]) == {
        *("200", "304", "400", "401", "403", "404", "405", "413", "421", "422"),
        *("429", "500", "502", "503"),
    }
    assert "404" not in paths["/v1/catalog"]["get"]["responses"]
    for path in (entry for entry in paths.values() if "get" in entry):
        responses = path["head"]["responses"]
        assert set(responses) == set(path["get"]["responses"])
        assert not any("content" in response for response in responses.values())


def test_the_description_is_served_and_asks_for_a_token(client: TestClient) -> None:
    document = cast("Any", openapi(private=True))

    assert document["security"] == [{"token": []}]
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "security" not in openapi()
    assert client.get("/v1/openapi.json").json() == openapi()


NUMBER = {"type": "integer", "minimum": 1, "maximum": 9}
TEXT = {"type": "string", "minLength": 2, "maxLength": 3}
EITHER = {"anyOf": [NUMBER, {"type": "string", "enum": ["none"]}]}


def test_a_parameter_is_read() -> None:
    for schema, text, value in (
        *((NUMBER, "9", 9), (TEXT, "abc", "abc")),
        *((EITHER, "none", "none"), (EITHER, "3", 3)),
    ):
        parameter = Parameter("p", "", schema, "")

        assert parse_parameters((parameter,), [("p", text)]) == {"p": value}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ([("p", "10")], "p: expected a whole number from 1 to 9"),
        ([("p", "-1")], "p: expected a whole number from 1 to 9"),
        ([("p", "٣")], "p: expected a whole number from 1 to 9"),
        ([("p", "1"), ("p", "1")], "p: given more than once"),
        ([("q", "1")], "unknown parameter 'q'; there are p"),
        ([("x", "1")], "unknown parameter 'x'; there are p"),
        ([], "p: is needed"),
    ],
    ids=["large", "negative", "not ASCII", "twice", "in the path", "unknown", "none"],
)
def test_a_wrong_parameter_is_told(query: list[tuple[str, str]], message: str) -> None:
    parameters = (
        Parameter("p", "", NUMBER, 1, required=True),
        Parameter("q", "", TEXT, "ab", where="path"),
    )

    with pytest.raises(InvalidParameterError, match=message):
        parse_parameters(parameters, query, {"q": "ab"})
