"""The API for programs that speak neither MCP nor discovery: ``/v1``."""

from bisect import bisect_right
from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from satchel.errors import SkillManifestError
from satchel.model import SKILL_FILE, Descriptor, Loaded, respelled
from satchel.published import VERSION
from satchel_server._http._endpoints import (
    NOT_FOUND,
    ApiRequest,
    Endpoint,
    HttpContext,
    Parameter,
    path_segments,
)
from satchel_server._http._openapi import openapi_document
from satchel_server._http._responses import error_response
from satchel_server._library import is_copy_request

MAX_PAGE: Final = 1000
MAX_HITS: Final = 100
MAX_QUERY_CHARS: Final = 1000
MAX_BUDGET: Final = 10_000_000
_SKILLS: Final = "/v1/skills/"
_CATALOG: Final = "/v1/catalog"
_PROMPT_KEYS: Final = (
    *("text", "tokens", "counted_by", "budget_tokens"),
    *("shortened", "names_only", "left_out", "suggested"),
)


def get_catalog(api: ApiRequest) -> Response:
    entries = api.view.catalog.entries
    after, limit = api.values["after"], api.values["limit"]
    # By key and not by position, so that a page survives a sync.
    start = 0 if after is None else bisect_right(entries, after, key=lambda e: e.id)
    page = entries[start : start + limit]
    value = {
        "release": api.library.catalog.release,
        "total": len(entries),
        "skills": [
            {**_entry(api, entry), "resources": list(entry.resources)} for entry in page
        ],
        "next": page[-1].id if start + limit < len(entries) else None,
    }
    return api.responses.json(api.request, value)


def get_prompt(api: ApiRequest) -> Response:
    budget = api.values["budget"]
    section = api.view.prompt(
        style=api.values["style"],
        format=api.values["format"],
        budget_tokens=None if budget == "none" else budget,
        message=api.values["message"],
    )
    value = {key: getattr(section, key) for key in _PROMPT_KEYS}
    value["groups"] = [group._asdict() for group in section.groups]
    return api.responses.json(api.request, value)


def get_skill(api: ApiRequest) -> Response:
    """Answer with a skill's SKILL.md and the list of its files; it is a load."""
    loaded = _load(api, api.values["id"])
    entry = loaded.descriptor
    try:
        frontmatter = dict(api.view.manifest_of(loaded).frontmatter)
    except SkillManifestError:  # a skill made in code has no more fields
        frontmatter = {"name": entry.name, "description": entry.description}
    value = {
        **_entry(api, entry),
        "instructions": loaded.text,
        "frontmatter": frontmatter,
        "resources": [
            {"path": file.path, "digest": file.digest, "size": file.size}
            for file in api.view.loadable_resources(loaded)
        ],
        "notes": [
            *loaded.notes,
            *(
                f"{file.path}: not handed out, for its size of {file.size:,} bytes."
                for file in api.view.too_large(entry)
            ),
        ],
    }
    return api.responses.json(api.request, value)


def get_file(api: ApiRequest) -> Response:
    """Answer with the exact bytes of one file; it is a load."""
    loaded = _load(api, api.values["id"], api.values["path"])
    return api.responses.file(api.request, loaded)


def _load(api: ApiRequest, skill_id: str, file: str | None = None) -> Loaded:
    """Read a file for HEAD (no event), for a copy elsewhere, or for a use."""
    if api.request.method == "HEAD":
        return api.view.load(skill_id, file, as_="look")
    if is_copy_request(api.request.headers):
        return api.view.load(skill_id, file, as_="copy")
    return api.view.load(skill_id, file)


def find_skills(api: ApiRequest) -> Response:
    query = api.values["q"]
    hits = api.view.find(query, api.values["k"])
    labels = api.library.labels_in(api.library.catalog)
    rows = [
        {
            "id": hit.id,
            "description": hit.description,
            "score": round(hit.score, 4),
            "source": labels.get(hit.source, ""),
            "confidence": hit.confidence,
            "weak": hit.weak,
        }
        for hit in hits
    ]
    value = {
        "query": query,
        "read_as": respelled(hits),
        "partial": any(hit.partial for hit in hits),
        "hits": rows,
    }
    return api.responses.json(api.request, value)


def _entry(api: ApiRequest, entry: Descriptor) -> dict[str, str]:
    catalog = api.library.catalog
    return {
        "id": entry.id,
        "name": entry.name,
        "description": entry.description,
        "source": api.library.labels_in(catalog).get(entry.source, ""),
        "release": catalog.release_of(entry.source),
        "digest": entry.digest,
    }


def _text(min_length: int, max_length: int) -> dict[str, Any]:
    return {"type": "string", "minLength": min_length, "maxLength": max_length}


def _number(maximum: int, **more: object) -> dict[str, Any]:
    return {"type": "integer", "minimum": 1, "maximum": maximum, **more}


def _choice(*values: str, **more: object) -> dict[str, Any]:
    return {"type": "string", "enum": [*values], **more}


_ID: Final = Parameter(
    "id",
    "The id, exactly as the catalog gives it, percent-encoded.",
    _text(1, 512),
    "invoice-check",
    where="path",
    required=True,
)
_PATH: Final = Parameter(
    "path",
    "The file's path inside the pack.",
    _text(1, 1024),
    "references/rules.md",
    where="path",
    required=True,
)
_BUDGETS: Final = [_number(MAX_BUDGET), _choice("none")]
_DIGEST_EXAMPLE: Final = "sha256:" + "0123456789abcdef" * 4
_DESCRIPTION_EXAMPLE: Final = "Use when an invoice has to be checked."
_ENTRY_EXAMPLE: Final = {
    "id": "invoice-check",
    "name": "invoice-check",
    "description": _DESCRIPTION_EXAMPLE,
    "source": "skills",
    "release": "",
    "digest": _DIGEST_EXAMPLE,
}
_COUNTS: Final = (
    "Each answer to GET counts as one use of the skill, unless the request has the "
    "header `Satchel-Purpose: sync`."
)

ENDPOINTS: Final = (
    Endpoint(
        _CATALOG,
        "getCatalog",
        "The skills, a page at a time",
        "Sorted by id. Give `next` as `after` for the page that follows.",
        get_catalog,
        "Catalog",
        {
            "release": "",
            "total": 1,
            "skills": [{**_ENTRY_EXAMPLE, "resources": ["references/rules.md"]}],
            "next": None,
        },
        (
            Parameter(
                "after",
                "Only ids that sort after this one, by code point.",
                {"type": "string", "maxLength": 512},
                "house-style",
            ),
            Parameter(
                "limit", "Skills on one page.", _number(MAX_PAGE, default=100), 100
            ),
        ),
    ),
    Endpoint(
        "/v1/prompt",
        "getPrompt",
        "The catalog as a section of a system prompt",
        "What does not fit the budget is shortened, then listed by name, then counted.",
        get_prompt,
        "Prompt",
        {
            "text": "If a skill fits the task, ...",
            "tokens": 87,
            "counted_by": "estimate",
            "budget_tokens": 4000,
            "shortened": [],
            "names_only": [],
            "left_out": [],
            "suggested": [],
            "groups": [],
        },
        (
            Parameter(
                "style",
                "Whose load tool the text names. Default: that of the server.",
                _choice("lean", "agent-skills", "packs", "references"),
                "lean",
            ),
            Parameter(
                "format",
                "How it is written. Default: as the style has it.",
                _choice("lean", "xml-id", "markdown", "json"),
                "lean",
            ),
            Parameter(
                "budget",
                "Tokens at most; `none` lists everything in full. "
                "Default: that of the server.",
                # No caller can send this word: it means the server's own budget.
                {"anyOf": _BUDGETS, "default": "default"},
                4000,
            ),
            Parameter(
                "message",
                "What the user says: if not all skills are listed in full, the 20 that "
                "fit it best are added.",
                {"type": "string", "maxLength": MAX_QUERY_CHARS},
                "fill in a tax form",
            ),
        ),
    ),
    Endpoint(
        "/v1/skills/{id}",
        "getSkill",
        "One skill",
        "The whole SKILL.md, its frontmatter, and every file with digest and size; "
        f"the notes name a file that is too large to be handed out. {_COUNTS}",
        get_skill,
        "Skill",
        {
            **_ENTRY_EXAMPLE,
            "instructions": "---\nname: invoice-check\n...",
            "frontmatter": {
                "name": "invoice-check",
                "description": _DESCRIPTION_EXAMPLE,
            },
            "resources": [
                {"path": SKILL_FILE, "digest": _DIGEST_EXAMPLE, "size": 1024}
            ],
            "notes": [],
        },
        (_ID,),
        missing="There is no skill of this id for this caller.",
        loads=True,
    ),
    Endpoint(
        "/v1/skills/{id}/files/{path}",
        "getFile",
        "One file of a skill, byte for byte",
        "The path is a listed one, its slashes encoded or not; a file name that only "
        f"one file has is enough. The ETag is the SHA-256 of the bytes. {_COUNTS}",
        get_file,
        "",
        "# Rules\n",
        (_ID, _PATH),
        missing="The skill is not there for this caller, or has no such file.",
        loads=True,
    ),
    Endpoint(
        "/v1/find",
        "findSkills",
        "Search the skills",
        "Best first, ties by id.",
        find_skills,
        "Hits",
        {
            "query": "check an invoice",
            "read_as": {},
            "partial": False,
            "hits": [
                {
                    "id": "invoice-check",
                    "description": _DESCRIPTION_EXAMPLE,
                    "score": 3.2,
                    "source": "skills",
                    "confidence": 0.83,
                    "weak": False,
                }
            ],
        },
        (
            Parameter(
                "q",
                "What the task needs, in words.",
                _text(1, MAX_QUERY_CHARS),
                "check an invoice",
                required=True,
            ),
            Parameter("k", "Hits at most.", _number(MAX_HITS, default=10), 10),
        ),
    ),
)


def openapi(*, private: bool = False) -> dict[str, object]:
    return openapi_document(
        all_endpoints(private=private), version=VERSION, private=private
    )


def all_endpoints(*, private: bool = False) -> tuple[Endpoint, ...]:
    """Return the endpoints of ``/v1``, with the one that describes them."""
    itself = Endpoint(
        "/v1/openapi.json",
        "getOpenapi",
        "This description",
        "OpenAPI 3.1.",
        lambda api: api.responses.json(api.request, openapi(private=private)),
        "OpenApi",
        {"openapi": "3.1.0"},
    )
    return (*ENDPOINTS, itself)


def api_routes(http: HttpContext) -> list[Route]:
    """Return a route for each endpoint; those of one skill share one."""
    endpoints = {
        endpoint.path: endpoint
        for endpoint in all_endpoints(private=http.settings.private)
    }
    get_skill = endpoints.pop(f"{_SKILLS}{{id}}")
    get_file = endpoints.pop(f"{_SKILLS}{{id}}/files/{{path}}")
    get_catalog = endpoints.pop(_CATALOG)

    async def skill_route(request: Request) -> Response:
        # Starlette would decode "%2F" in an id before it splits the path.
        match path_segments(request, _SKILLS):
            case [str(skill_id)] if skill_id:
                return await http.repeat(get_skill, request, {"id": skill_id})
            # The slashes of a file's path may be encoded or not; both lead here.
            case [str(skill_id), "files", *path] if skill_id and path:
                values = {"id": skill_id, "path": "/".join(path)}
                source = http.library.thread_for(skill_id)
                answer = partial(http.answer, get_file, request, values)
                return await http.run(request, source, answer)
            case _:
                return error_response(request, NOT_FOUND)

    return [
        Route(f"{_SKILLS}{{rest:path}}", skill_route),
        Route(_CATALOG, partial(http.repeat, get_catalog)),
        *(
            Route(path, http.threaded(partial(http.answer, endpoint)))
            for path, endpoint in endpoints.items()
        ),
    ]
