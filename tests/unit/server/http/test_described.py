"""The description of the API, compared with what the API does."""

from typing import Any, cast
from urllib.parse import quote

import jsonschema  # type: ignore[import-untyped]  # it comes with mcp
import pytest
from starlette.testclient import TestClient

from satchel.server._http._endpoints import (
    Endpoint,
    InvalidParameterError,
    Parameter,
    parse_parameters,
)
from satchel.server._http._openapi import SCHEMAS
from satchel.server._http._v1 import all_endpoints, openapi

ENDPOINTS = {each.operation: each for each in all_endpoints()}


def _check(value: object, schema: str) -> None:
    document = {
        "$ref": f"#/components/schemas/{schema}",
        "components": {"schemas": SCHEMAS},
    }
    jsonschema.validate(value, document)


@pytest.mark.parametrize("operation", ENDPOINTS)
def test_an_example_is_what_it_is_an_example_of(operation: str) -> None:
    endpoint = ENDPOINTS[operation]

    if endpoint.schema:
        _check(endpoint.example, endpoint.schema)
    for parameter in endpoint.parameters:
        jsonschema.validate(parameter.example, parameter.schema)


@pytest.mark.parametrize("operation", ENDPOINTS)
def test_an_answer_is_what_the_description_says(
    client: TestClient, operation: str
) -> None:
    endpoint = ENDPOINTS[operation]
    answer = client.get(_url(endpoint, {"id": "beta", "path": "references/guide.md"}))
    missed = client.get(_url(endpoint, {"id": "nobody", "path": "x"}, "nothing=1"))

    assert answer.status_code == 200
    if endpoint.schema:
        _check(answer.json(), endpoint.schema)
    _check(missed.json(), "Error")
    get = cast("Any", openapi())["paths"][endpoint.path]["get"]
    assert str(missed.status_code) in get["responses"]


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
        assert set(path["head"]["responses"]) == set(path["get"]["responses"])
        assert not any(
            "content" in entry for entry in path["head"]["responses"].values()
        )


def test_a_server_that_wants_a_token_says_so() -> None:
    document = cast("Any", openapi(private=True))

    assert document["security"] == [{"token": []}]
    assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    assert "security" not in openapi()


def test_the_description_is_served(client: TestClient) -> None:
    assert client.get("/v1/openapi.json").json() == openapi()


NUMBER = {"type": "integer", "minimum": 1, "maximum": 9}
TEXT = {"type": "string", "minLength": 2, "maxLength": 3}


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        (NUMBER, "9", 9),
        ({"anyOf": [NUMBER, {"type": "string", "enum": ["none"]}]}, "none", "none"),
        ({"anyOf": [NUMBER, {"type": "string", "enum": ["none"]}]}, "3", 3),
        (TEXT, "abc", "abc"),
    ],
)
def test_a_parameter_is_read(schema: dict[str, Any], text: str, value: object) -> None:
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
