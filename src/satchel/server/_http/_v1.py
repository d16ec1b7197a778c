"""The API for programs that speak neither MCP nor discovery: ``/v1``."""

from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import Any, Final

from starlette.responses import Response

from satchel.errors import SkillManifestError
from satchel.model import SKILL_FILE, Catalog, Descriptor, FileStat, Loaded
from satchel.runtime import CallerView
from satchel.server._errors import public_labels
from satchel.server._http._endpoints import ApiRequest, Endpoint, Parameter, is_copy
from satchel.server._http._responses import file_response

MAX_PAGE: Final = 1000
MAX_HITS: Final = 100
MAX_QUERY_CHARS: Final = 1000
MAX_BUDGET: Final = 10_000_000


def catalog(ask: ApiRequest) -> Response:
    """Answer with one page of the catalog, by id."""
    here, whole = ask.view.catalog, ask.library.catalog
    names = public_labels(whole)
    after, limit = ask.values["after"], ask.values["limit"]
    ids = [entry.id for entry in here.entries]
    start = 0 if after is None else bisect_right(ids, after)
    page = here.entries[start : start + limit]
    more = start + limit < len(ids)
    value = {
        "release": whole.release,
        "total": len(ids),
        "skills": [
            {**_entry(entry, whole, names), "resources": list(entry.resources)}
            for entry in page
        ],
        "next": page[-1].id if more else None,
    }
    return ask.answers.json(ask.request, value)


def prompt(ask: ApiRequest) -> Response:
    """Answer with the catalog section for a system prompt."""
    budget = ask.values["budget"]
    section = ask.view.prompt(
        style=ask.values["style"],
        format=ask.values["format"],
        budget_tokens=None if budget == "none" else budget,
    )
    value = {
        "text": section.text,
        "tokens": section.tokens,
        "counted_by": section.counted_by,
        "budget_tokens": section.budget_tokens,
        "shortened": list(section.shortened),
        "names_only": list(section.names_only),
        "left_out": list(section.left_out),
    }
    return ask.answers.json(ask.request, value)


def skill(ask: ApiRequest) -> Response:
    """Answer with a skill's SKILL.md, and what lies beside it; it is a load."""
    skill_id = ask.values["id"]
    loaded = _reader(ask)(skill_id)
    whole = ask.library.catalog
    large = ask.view.too_large(loaded.descriptor)
    value = {
        **_entry(loaded.descriptor, whole, public_labels(whole)),
        "instructions": loaded.text,
        "frontmatter": _frontmatter(ask.view, loaded.descriptor),
        "resources": [
            {"path": each.path, "digest": each.digest, "size": each.size}
            for each in ask.view.handed_out(skill_id)
        ],
        "notes": [*loaded.notes, *map(_left_out, large)],
    }
    return ask.answers.json(ask.request, value)


def _left_out(file: FileStat) -> str:
    return f"{file.path}: not handed out, for its size of {file.size:,} bytes."


def file(ask: ApiRequest) -> Response:
    """Answer with the exact bytes of one file; it is a load."""
    loaded = _reader(ask)(ask.values["id"], ask.values["path"])
    return file_response(ask.answers, ask.request, loaded)


def _reader(ask: ApiRequest) -> Callable[..., Loaded]:
    """Return what reads, by what it is for: nothing, a copy elsewhere, or a use."""
    if ask.request.method == "HEAD":
        return ask.view.peek
    return ask.view.copy if is_copy(ask.request.headers) else ask.view.load


def find(ask: ApiRequest) -> Response:
    """Answer with the skills that match a query, best first."""
    query = ask.values["q"]
    names = public_labels(ask.library.catalog)
    value = {
        "query": query,
        "hits": [
            {
                "id": hit.id,
                "description": hit.description,
                "score": round(hit.score, 4),
                "source": names.get(hit.source, ""),
            }
            for hit in ask.view.find(query, ask.values["k"])
        ],
    }
    return ask.answers.json(ask.request, value)


def _entry(
    entry: Descriptor, whole: Catalog, names: Mapping[str, str]
) -> dict[str, str]:
    return {
        "id": entry.id,
        "name": entry.name,
        "description": entry.description,
        "source": names.get(entry.source, ""),
        "release": whole.release_of(entry.source),
        "digest": entry.digest,
    }


def _frontmatter(view: CallerView, entry: Descriptor) -> Mapping[str, Any]:
    """Return it as its author wrote it; that of a skill made in code is made up."""
    try:
        return dict(view.manifest(entry.id).frontmatter)
    except SkillManifestError:
        return {"name": entry.name, "description": entry.description}


_ID: Final = Parameter(
    "id",
    "The id, exactly as the catalog gives it, percent-encoded.",
    {"type": "string", "minLength": 1, "maxLength": 512},
    "invoice-check",
    where="path",
    required=True,
)
_DIGEST_EXAMPLE: Final = "sha256:" + "0123456789abcdef" * 4
_ENTRY_EXAMPLE: Final = {
    "id": "invoice-check",
    "name": "invoice-check",
    "description": "Use when an invoice has to be checked.",
    "source": "skills",
    "release": "",
    "digest": _DIGEST_EXAMPLE,
}

ENDPOINTS: Final = (
    Endpoint(
        "/v1/catalog",
        "getCatalog",
        "The skills, a page at a time",
        "Sorted by id. Give `next` as `after` for the page that follows.",
        catalog,
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
                "Only ids that sort behind this one, by code point.",
                {"type": "string", "maxLength": 512},
                "house-style",
            ),
            Parameter(
                "limit",
                "Skills on one page.",
                {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_PAGE,
                    "default": 100,
                },
                100,
            ),
        ),
    ),
    Endpoint(
        "/v1/prompt",
        "getPrompt",
        "The catalog as a section of a system prompt",
        "What does not fit the budget is shortened, then listed by name, then counted.",
        prompt,
        "Prompt",
        {
            "text": "## Agent Skills\n...",
            "tokens": 87,
            "counted_by": "estimate",
            "budget_tokens": 4000,
            "shortened": [],
            "names_only": [],
            "left_out": [],
        },
        (
            Parameter(
                "style",
                "Whose load tool the text names. Default: that of the server.",
                {"type": "string", "enum": ["agent-skills", "packs", "references"]},
                "agent-skills",
            ),
            Parameter(
                "format",
                "How it is written.",
                {
                    "type": "string",
                    "enum": ["xml-id", "markdown", "json"],
                    "default": "xml-id",
                },
                "xml-id",
            ),
            Parameter(
                "budget",
                "Tokens at most; `none` lists everything in full. "
                "Default: that of the server.",
                {
                    "anyOf": [
                        {"type": "integer", "minimum": 1, "maximum": MAX_BUDGET},
                        {"type": "string", "enum": ["none"]},
                    ],
                    "default": "default",
                },
                4000,
            ),
        ),
    ),
    Endpoint(
        "/v1/skills/{id}",
        "getSkill",
        "One skill",
        "The whole SKILL.md, its frontmatter, and every file with digest and size; "
        "the notes tell of one that is too large to be handed out. "
        "Each answer to GET counts as one use of the skill, unless the request has "
        "the header `Satchel-Purpose: sync`.",
        skill,
        "Skill",
        {
            **_ENTRY_EXAMPLE,
            "instructions": "---\nname: invoice-check\n...",
            "frontmatter": {
                "name": "invoice-check",
                "description": _ENTRY_EXAMPLE["description"],
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
        "one file bears is enough. The ETag is the SHA-256 of the bytes. Each answer "
        "to GET counts as one use of the skill, unless the request has the header "
        "`Satchel-Purpose: sync`.",
        file,
        "",
        "# Rules\n",
        (
            _ID,
            Parameter(
                "path",
                "The file's path inside the pack.",
                {"type": "string", "minLength": 1, "maxLength": 1024},
                "references/rules.md",
                where="path",
                required=True,
            ),
        ),
        missing="The skill is not there for this caller, or has no such file.",
        loads=True,
    ),
    Endpoint(
        "/v1/find",
        "findSkills",
        "Search the skills",
        "Best first, ties by id.",
        find,
        "Hits",
        {
            "query": "check an invoice",
            "hits": [
                {
                    "id": "invoice-check",
                    "description": _ENTRY_EXAMPLE["description"],
                    "score": 3.2,
                    "source": "skills",
                }
            ],
        },
        (
            Parameter(
                "q",
                "What the task needs, in words.",
                {"type": "string", "minLength": 1, "maxLength": MAX_QUERY_CHARS},
                "check an invoice",
                required=True,
            ),
            Parameter(
                "k",
                "Hits at most.",
                {"type": "integer", "minimum": 1, "maximum": MAX_HITS, "default": 10},
                10,
            ),
        ),
    ),
)
