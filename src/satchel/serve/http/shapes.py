"""JSON Schemas of what the API answers."""

from typing import Any, Final

__all__ = ["SCHEMAS"]

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


def _list_of(name: str) -> dict[str, Any]:
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
            "skills": _list_of("Entry"),
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
            "resources": _list_of("Resource"),
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
    "Hits": _object({"query": _TEXT, "hits": _list_of("Hit")}),
    "OpenApi": {"type": "object"},
}
