"""The API's description: OpenAPI 3.1, made of the table that makes the routes."""

from typing import Any, Final

from satchel.serve.http.reporting import LOADS_PATH, REPORT_SCHEMA
from satchel.serve.http.shapes import SCHEMAS
from satchel.serve.http.table import Endpoint, Parameter

__all__ = ["described"]

_ERROR: Final = {"$ref": "#/components/schemas/Error"}
_JSON: Final = "application/json"

# What any request may meet before an endpoint is asked; see `satchel.serve.guard`.
_ALWAYS: Final = {
    "400": "The request is not one that this server takes.",
    "401": "A token is needed, and none that is known was given.",
    "403": "This caller, or a page of this origin, may not.",
    "405": "Only the methods that are described here are answered.",
    "413": "The request is larger than is accepted.",
    "421": "This server does not answer to the name in the Host header.",
    "422": "A parameter is not as described; the message says which.",
    "429": "Too many requests; see Retry-After.",
    "500": "A fault of the server's own.",
    "503": "Not now: a source is away, two packs claim one id, or too much to do.",
}
_LOADS: Final = {
    "502": "What a source sent is not what it had announced; none of it is used.",
}


def described(
    endpoints: tuple[Endpoint, ...], *, version: str, private: bool
) -> dict[str, Any]:
    """Return the OpenAPI document; ``private`` says that a token is needed."""
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {
            "title": "Satchel",
            "version": version,
            "description": "Skills for agents: find them, list them, load them.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "paths": {
            **{each.path: _path(each) for each in endpoints},
            LOADS_PATH: {"post": _reporting()},
        },
        "components": {"schemas": SCHEMAS},
    }
    if private:
        document["security"] = [{"token": []}]
        document["components"]["securitySchemes"] = {
            "token": {"type": "http", "scheme": "bearer"}
        }
    return document


def _path(endpoint: Endpoint) -> dict[str, Any]:
    get = _operation(endpoint, endpoint.operation, _content(endpoint))
    return {
        "parameters": [_parameter(each) for each in endpoint.parameters],
        "get": get,
        "head": _operation(endpoint, f"{endpoint.operation}Head", None),
    }


def _reporting() -> dict[str, Any]:
    error = {_JSON: {"schema": _ERROR}}
    counts = {"$ref": "#/components/schemas/Counted"}
    return {
        "operationId": "reportLoads",
        "summary": "Tell what was loaded from a copy",
        "description": "For programs that fetch once and load from their own copy. "
        "What is told counts as loads; a number that a writer has told of before, and "
        "what this caller may not load, counts as nothing.",
        "requestBody": {
            "required": True,
            "content": {_JSON: {"schema": REPORT_SCHEMA}},
        },
        "responses": {
            "200": {"description": "As told.", "content": {_JSON: {"schema": counts}}},
            **{
                status: {"description": text, "content": error}
                for status, text in sorted(_ALWAYS.items())
            },
        },
    }


def _operation(
    endpoint: Endpoint, operation: str, content: dict[str, Any] | None
) -> dict[str, Any]:
    answered: dict[str, Any] = {
        "description": "As asked.",
        "headers": {
            "ETag": {"schema": {"type": "string"}, "required": True},
            "Cache-Control": {"schema": {"type": "string"}, "required": True},
        },
    }
    if content is not None:
        answered["content"] = content
    responses: dict[str, Any] = {
        "200": answered,
        "304": {"description": "What `If-None-Match` names is still what it is."},
    }
    errors = {**_ALWAYS, **(_LOADS if endpoint.loads else {})}
    if endpoint.missing:
        errors["404"] = endpoint.missing
    for status, text in sorted(errors.items()):
        responses[status] = {"description": text}
        if content is not None:  # an answer to HEAD has none
            responses[status]["content"] = {_JSON: {"schema": _ERROR}}
    return {
        "operationId": operation,
        "summary": endpoint.summary,
        "description": endpoint.description,
        "responses": responses,
    }


def _content(endpoint: Endpoint) -> dict[str, Any]:
    if not endpoint.schema:
        return {
            "*/*": {
                "schema": {"type": "string", "contentEncoding": "binary"},
                "example": endpoint.example,
            }
        }
    schema = {"$ref": f"#/components/schemas/{endpoint.schema}"}
    return {_JSON: {"schema": schema, "example": endpoint.example}}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    schema = dict(parameter.schema)
    if schema.get("default") == "default":  # a word of ours, for that of the server
        del schema["default"]
    return {
        "name": parameter.name,
        "in": parameter.where,
        "required": parameter.required,
        "description": parameter.description,
        "schema": schema,
        "example": parameter.example,
    }
