"""The routes of `/v1` and their OpenAPI description, both from one table."""

from importlib.metadata import version
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.server._http._endpoints import (
    NOT_FOUND,
    ApiRequest,
    Endpoint,
    HttpContext,
    Parameter,
    path_segments,
)
from satchel.server._http._loads import LOADS_PATH, REPORT_SCHEMA
from satchel.server._http._responses import error_response
from satchel.server._http._v1 import ENDPOINTS

_TEXT: Final = {"type": "string"}
_COUNT: Final = {"type": "integer", "minimum": 0}
_DIGEST: Final = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_IDS: Final = {"type": "array", "items": _TEXT}


def _object(
    properties: dict[str, Any], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _array_of(name: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{name}"}}


_RELEASE: Final = {
    **_TEXT,
    "description": "The release that it comes from; empty where that is none.",
}
_ENTRY: Final = {
    "id": {**_TEXT, "description": "The one key that loads it."},
    "name": {**_TEXT, "description": "The name that its manifest gives it."},
    "description": _TEXT,
    "source": {**_TEXT, "description": "What the server calls the place it lies in."},
    "release": _RELEASE,
    "digest": {
        **_TEXT,
        "pattern": "^(sha256:[0-9a-f]{64})?$",
        "description": "SHA-256 of SKILL.md; empty where there is no such file.",
    },
}

SCHEMAS: Final[dict[str, dict[str, Any]]] = {
    "Error": _object(
        {
            "error": _object(
                {
                    "code": {**_TEXT, "pattern": "^[a-z]+(-[a-z]+)*$"},
                    "message": _TEXT,
                }
            )
        }
    ),
    "Entry": _object(
        {
            **_ENTRY,
            "resources": {**_IDS, "description": "Paths of the files beside SKILL.md."},
        }
    ),
    "Catalog": _object(
        {
            "release": _RELEASE,
            "total": {**_COUNT, "description": "Skills on all pages together."},
            "skills": _array_of("Entry"),
            "next": {
                "type": ["string", "null"],
                "description": "Give it as `after` for the next page; else null.",
            },
        }
    ),
    "Prompt": _object(
        {
            "text": {
                **_TEXT,
                "description": "For the system prompt; empty if no skill.",
            },
            "tokens": _COUNT,
            "counted_by": _TEXT,
            "budget_tokens": {"type": ["integer", "null"], "minimum": 1},
            "shortened": {**_IDS, "description": "Their descriptions were cut."},
            "names_only": {**_IDS, "description": "Their descriptions were dropped."},
            "left_out": {**_IDS, "description": "They are counted, and not listed."},
        }
    ),
    "Resource": _object(
        {"path": _TEXT, "digest": _DIGEST, "size": {**_COUNT, "description": "Bytes."}}
    ),
    "Skill": _object(
        {
            **_ENTRY,
            "instructions": {**_TEXT, "description": "The whole SKILL.md, unaltered."},
            "frontmatter": {"type": "object"},
            "resources": _array_of("Resource"),
            "notes": {**_IDS, "description": "What its reader should be told."},
        }
    ),
    "Hit": _object(
        {
            "id": _TEXT,
            "description": _TEXT,
            "score": {"type": "number", "description": "Grows with the match."},
            "source": _TEXT,
        }
    ),
    "Counted": _object({"counted": _COUNT, "refused": _COUNT}),
    "Hits": _object({"query": _TEXT, "hits": _array_of("Hit")}),
    "OpenApi": {"type": "object"},
}


_ERROR: Final = {"$ref": "#/components/schemas/Error"}
_JSON: Final = "application/json"

# What any request may meet before an endpoint is asked; see `satchel.server._guard`.
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


def openapi_document(
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
            **{each.path: _path_item(each) for each in endpoints},
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
    get = _operation(endpoint, endpoint.operation, _content(endpoint))
    return {
        "parameters": [_parameter(each) for each in endpoint.parameters],
        "get": get,
        "head": _operation(endpoint, f"{endpoint.operation}Head", None),
    }


def _loads_operation() -> dict[str, Any]:
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


_SKILLS = "/v1/skills/"
_FILES = "files"


def openapi(*, private: bool = False) -> dict[str, object]:
    """Return the description of ``/v1``, itself included."""
    return openapi_document(
        all_endpoints(private=private), version=version("satchel"), private=private
    )


def all_endpoints(*, private: bool = False) -> tuple[Endpoint, ...]:
    """Return the endpoints of ``/v1``, with the one that describes them."""

    def answer(ask: ApiRequest) -> Response:
        return ask.answers.json(ask.request, openapi(private=private))

    itself = Endpoint(
        "/v1/openapi.json",
        "getOpenapi",
        "This description",
        "OpenAPI 3.1.",
        answer,
        "OpenApi",
        {"openapi": "3.1.0"},
    )
    return (*ENDPOINTS, itself)


def api_routes(site: HttpContext) -> list[Route]:
    """Return a route for each endpoint; those of one skill share one."""
    plain: list[Route] = []
    of_skill: dict[bool, Endpoint] = {}
    for each in all_endpoints(private=site.settings.private):
        if each.path.startswith(_SKILLS):
            of_skill[f"/{_FILES}/" in each.path] = each
        else:
            plain.append(Route(each.path, site.endpoint(each)))
    skill = site.endpoint(of_skill[False], _skill_in)
    file = site.endpoint(of_skill[True], _file_in)

    def choose(request: Request) -> Response:
        parts = path_segments(request, _SKILLS)
        if parts is None or not parts[0]:
            return error_response(request, NOT_FOUND)
        if len(parts) == 1:
            return skill(request)
        if parts[1] == _FILES and len(parts) > 2:  # noqa: PLR2004 - id, files, path
            return file(request)
        return error_response(request, NOT_FOUND)

    laned = site.laned(choose, lambda request: _skill_in(request)["id"])
    return [*plain, Route(f"{_SKILLS}{{rest:path}}", laned)]


def _skill_in(request: Request) -> dict[str, str]:
    return {"id": (path_segments(request, _SKILLS) or [""])[0]}


def _file_in(request: Request) -> dict[str, str]:
    skill_id, _, *path = path_segments(request, _SKILLS) or ["", "", ""]
    return {"id": skill_id, "path": "/".join(path)}
