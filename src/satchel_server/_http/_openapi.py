"""The OpenAPI description of ``/v1``, made of the table that makes its routes."""

from typing import Any, Final

from satchel_server._http._endpoints import Endpoint, Parameter
from satchel_server._http._loads import LOADS_PATH, REPORT_SCHEMA

_TEXT: Final = {"type": "string"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_DIGEST: Final = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_IDS: Final = {"type": "array", "items": _TEXT}


def _object(**properties: object) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


def _array_of(name: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{name}"}}


_RELEASE: Final = {
    **_TEXT,
    "description": "The release that it comes from; empty if there is none.",
}
_ENTRY: Final[dict[str, Any]] = {
    "id": {**_TEXT, "description": "The one key that loads it."},
    "name": {**_TEXT, "description": "The name that its manifest gives it."},
    "description": _TEXT,
    "source": {
        **_TEXT,
        "description": "The server's name for the source that it is in.",
    },
    "release": _RELEASE,
    "digest": {
        **_TEXT,
        "pattern": "^(sha256:[0-9a-f]{64})?$",
        "description": "SHA-256 of SKILL.md; empty where there is no such file.",
    },
}

SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    "Error": _object(
        error=_object(code={**_TEXT, "pattern": "^[a-z]+(-[a-z]+)*$"}, message=_TEXT)
    ),
    "Entry": _object(
        **_ENTRY,
        resources={**_IDS, "description": "Paths of the files next to SKILL.md."},
    ),
    "Catalog": _object(
        release=_RELEASE,
        total={**_COUNT, "description": "Skills on all pages together."},
        skills=_array_of("Entry"),
        next={
            "type": ["string", "null"],
            "description": "Give it as `after` for the next page; else null.",
        },
    ),
    "Prompt": _object(
        text={**_TEXT, "description": "For the system prompt; empty if no skill."},
        tokens=_COUNT,
        counted_by=_TEXT,
        budget_tokens={"type": ["integer", "null"], "minimum": 1},
        shortened={**_IDS, "description": "Their descriptions were cut."},
        names_only={**_IDS, "description": "Their descriptions were dropped."},
        left_out={**_IDS, "description": "They are counted, and not listed."},
        suggested={**_IDS, "description": "They fit the message best, best first."},
        groups={
            "type": "array",
            "items": _object(kind=_TEXT, name=_TEXT, skills=_COUNT),
            "description": "Counts by source, folder, or first word of the id.",
        },
    ),
    "Resource": _object(
        path=_TEXT, digest=_DIGEST, size={**_COUNT, "description": "Bytes."}
    ),
    "Skill": _object(
        **_ENTRY,
        instructions={**_TEXT, "description": "The whole SKILL.md, unaltered."},
        frontmatter={"type": "object"},
        resources=_array_of("Resource"),
        notes={**_IDS, "description": "What its reader should know."},
    ),
    "Hit": _object(
        id=_TEXT,
        description=_TEXT,
        score={"type": "number", "description": "Grows with the match."},
        source=_TEXT,
        confidence={
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "How sure it is that the skill fits.",
        },
        weak={"type": "boolean", "description": "Use it only if it fits."},
    ),
    "Counted": _object(counted=_COUNT, refused=_COUNT),
    "Hits": _object(
        query=_TEXT,
        read_as={
            "type": "object",
            "additionalProperties": _TEXT,
            "description": "Words that no skill has, and what they were read as.",
        },
        partial={
            "type": "boolean",
            "description": "Of some skills only names and descriptions were searched.",
        },
        hits=_array_of("Hit"),
    ),
    "OpenApi": {"type": "object"},
}


_ERROR: Final = {"$ref": "#/components/schemas/Error"}
_JSON: Final = "application/json"

# What the guard, or any endpoint, may answer.
_ERRORS: Final = {
    "400": "This server does not accept such a request.",
    "401": "A token is needed; the request has none, or an unknown one.",
    "403": "This caller, or a page of this origin, may not do this.",
    "405": "Only the methods that are described here are answered.",
    "413": "The request is too large.",
    "421": "This server does not answer to the name in the Host header.",
    "422": "A parameter is not as described; the message says which.",
    "429": "Too many requests; see Retry-After.",
    "500": "The server failed.",
    "503": "Not now: a source is down, two packs have one id, or the server is busy.",
}
_LOAD_ERRORS: Final = {
    "502": "A source sent other bytes than it had announced; they are not used."
}


def openapi_document(
    endpoints: tuple[Endpoint, ...], *, version: str, private: bool
) -> dict[str, Any]:
    """Return the OpenAPI document; ``private`` means that a token is needed."""
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
            **{endpoint.path: _path_item(endpoint) for endpoint in endpoints},
            LOADS_PATH: {"post": _loads_operation()},
        },
        "components": {"schemas": SCHEMAS},
    }
    if private:
        document["security"] = [{"token": []}]
        document["components"]["securitySchemes"] = {
            "token": {"type": "http", "scheme": "bearer"}
        }
    return document


def _path_item(endpoint: Endpoint) -> dict[str, Any]:
    return {
        "parameters": [*map(_parameter, endpoint.parameters)],
        "get": _operation(endpoint, endpoint.operation, _content(endpoint)),
        "head": _operation(endpoint, f"{endpoint.operation}Head", None),
    }


def _loads_operation() -> dict[str, Any]:
    error = {_JSON: {"schema": _ERROR}}
    report = {_JSON: {"schema": REPORT_SCHEMA}}
    counted = {_JSON: {"schema": {"$ref": "#/components/schemas/Counted"}}}
    return {
        "operationId": "reportLoads",
        "summary": "Report what was loaded from a copy",
        "description": "For programs that fetch once and load from their own copy. "
        "What they report counts as loads, except for a number that a writer has "
        "reported before, and for a file that this caller may not load.",
        "requestBody": {"required": True, "content": report},
        "responses": {
            "200": {"description": "What was counted.", "content": counted},
            **{
                status: {"description": text, "content": error}
                for status, text in sorted(_ERRORS.items())
            },
        },
    }


def _operation(
    endpoint: Endpoint, operation: str, content: dict[str, Any] | None
) -> dict[str, Any]:
    success: dict[str, Any] = {
        "description": "The answer.",
        "headers": {
            name: {"schema": _TEXT, "required": True}
            for name in ("ETag", "Cache-Control")
        },
    }
    if content is not None:
        success["content"] = content
    responses: dict[str, Any] = {
        "200": success,
        "304": {"description": "The caller has it already: `If-None-Match` names it."},
    }
    errors = {**_ERRORS, **(_LOAD_ERRORS if endpoint.loads else {})}
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
        binary = {**_TEXT, "contentEncoding": "binary"}
        return {"*/*": {"schema": binary, "example": endpoint.example}}
    schema = {"$ref": f"#/components/schemas/{endpoint.schema}"}
    return {_JSON: {"schema": schema, "example": endpoint.example}}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    schema = dict(parameter.schema)
    if schema.get("default") == "default":  # the server's own default
        del schema["default"]
    return {
        "name": parameter.name,
        "in": parameter.where,
        "required": parameter.required,
        "description": parameter.description,
        "schema": schema,
        "example": parameter.example,
    }
