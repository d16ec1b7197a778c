"""The tools of each style, and the one that finds skills."""

from collections.abc import Iterable
from typing import Final

from satchel.errors import echo
from satchel.load import _wording as wording
from satchel.load._lean import lean_tools, render_lean_error
from satchel.load._tool_backend import DEFAULT_STYLE_OPTIONS, StyleOptions, ToolBackend
from satchel.model import Catalog, Descriptor, Json, Rendered, Style, respelled
from satchel.text import clean_line, clip, list_line
from satchel.tools import Tool, Toolbox

# From so many skills on, a list is searched rather than read.
FIND_FROM: Final = 30
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


def tools_for(
    style: Style,
    backend: ToolBackend,
    *,
    find: bool = False,
    options: StyleOptions = DEFAULT_STYLE_OPTIONS,
    even_empty: bool = False,
) -> Toolbox:
    """Return the tools of ``style``, in a stable order; none where nothing is listed.

    Args:
        style: Names, parameters and shape of results.
        backend: Loads; its errors become the style's results.
        find: Whether the tool that finds skills is among them.
        options: How what was loaded is written.
        even_empty: It does not matter that nothing is listed now: a prompt names the
            tools.
    """
    if not even_empty and not backend.catalog.entries:
        return Toolbox("satchel")
    if style == "lean":
        tools = lean_tools(backend, options)
    else:
        # Most programs use one style, and wait for no other.
        from satchel.load._contract_styles import contract_tools

        tools = contract_tools(style, backend, options)
    return Toolbox("satchel", (*tools, _find_tool(backend, style)) if find else tools)


def offer_reader(style: Style, entries: Iterable[Descriptor]) -> bool:
    """Return whether some of these skills has a file that the style's reader gives."""
    if style == "packs":  # its load_skill gives references and scripts
        return any(entry.assets or entry.others for entry in entries)
    return any(entry.resources for entry in entries)


def offer_find(catalog: Catalog, rendered: Rendered) -> bool:
    """Return whether the tool that finds skills is worth its place in a prompt."""
    return len(catalog) >= FIND_FROM or not rendered.complete


def _find_tool(backend: ToolBackend, style: Style) -> Tool:

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
