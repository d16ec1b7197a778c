"""The tool that finds skills: what it takes, and how it writes what it found."""

from typing import Final

from satchel.errors import echo
from satchel.load import _wording as wording
from satchel.load._lean import render_lean_error
from satchel.load._tool_backend import ToolBackend
from satchel.model import Json, Style, respelled
from satchel.text import clean_line, clip, list_line
from satchel.tools import Tool

_MAX_HITS: Final = 50
# A model chooses better from many short rows than from few long ones: the right skill
# is among the first 20 for 80 % of queries, and the first for 40 %.
_DEFAULT_HITS: Final = 20
_ROW_COLUMNS: Final = 100
_FIND_PARAMETERS: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": wording.PARAMETERS["words"]},
        "k": {
            "type": "integer",
            "description": wording.PARAMETERS["k"],
            "minimum": 1,
            "maximum": _MAX_HITS,
            "default": _DEFAULT_HITS,
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}
_LEAN_FIND_PARAMETERS: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
}


def find_tool(backend: ToolBackend, style: Style) -> Tool:
    """Return the tool with which a model finds skills, in the words of a style."""

    def find_skills(query: str, k: int = _DEFAULT_HITS) -> str | dict[str, object]:
        # Models write any number; a wrong one is no reason to find nothing.
        hits = backend.find(query, max(1, min(k, _MAX_HITS)))
        rows = [(hit, clip(clean_line(hit.description), _ROW_COLUMNS)) for hit in hits]
        about = [wording.READ_AS.format(*pair) for pair in respelled(hits).items()]
        if any(hit.partial for hit in hits):
            about.append(f"{wording.PARTIAL_SEARCH}.")
        if style == "lean":
            lines = [
                (hit.weak, list_line(clean_line(hit.id), text)) for hit, text in rows
            ]
            weak = [line for is_weak, line in lines if is_weak]
            if weak:
                weak.insert(0, f"{wording.WEAK_MATCHES}:\n")
            strong = [line for is_weak, line in lines if not is_weak]
            return (
                "".join([*strong, *weak, "\n".join(about)]).rstrip("\n")
                or wording.NOTHING_FOUND
            )
        notes = [f"{wording.WEAK_MATCHES}."] if any(hit.weak for hit in hits) else []
        note = " ".join(notes + about)
        return {
            "query": echo(query),
            "skills": [
                {
                    "id": hit.id,
                    "description": text,
                    **({"weak": True} if hit.weak else {}),
                }
                for hit, text in rows
            ],
            **({"note": note} if note else {}),
        }

    if style == "lean":
        return Tool(
            "find_skills",
            wording.LEAN_FIND,
            _LEAN_FIND_PARAMETERS,
            find_skills,
            refused=lambda _, error: render_lean_error(error),
        )
    return Tool("find_skills", wording.FIND_SKILLS, _FIND_PARAMETERS, find_skills)
