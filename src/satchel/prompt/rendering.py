"""Render a catalog as the section of a system prompt."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

from satchel.errors import SkillNotFoundError
from satchel.model import Catalog, Descriptor, Rendered, Style
from satchel.prompt.budget import Lines, fit
from satchel.prompt.layout import Layout
from satchel.protocols import TokenCounter
from satchel.text import EstimateCounter, clean_line

__all__ = ["Format", "WhenEmpty", "render"]

Format = Literal["xml-id", "markdown", "xml-spec", "json"]
WhenEmpty = Literal["omit", "empty"]

_NOWHERE: Final[Mapping[str, str]] = MappingProxyType({})


def render(  # noqa: PLR0913 - one call, its options all by name
    catalog: Catalog,
    *,
    format: Format = "xml-id",  # noqa: A002 - the word that users know
    budget_tokens: int | None = 4000,
    counter: TokenCounter | None = None,
    style: Style = "agent-skills",
    when_empty: WhenEmpty = "omit",
    locations: Mapping[str, str] = _NOWHERE,
    role: str | None = None,
    highlight: str | None = None,
    find_tool: str | None = "find_skills",
) -> Rendered:
    """Return the catalog section: every listed skill by id, in code point order.

    Equal catalogs and options give equal bytes. Ids and descriptions are cleaned
    (`satchel.text.clean_line`) and escaped; no body is looked at. Without skills the
    text is empty, unless ``when_empty`` asks for the empty frame.

    Args:
        catalog: What to list.
        format: The shape of the text.
        budget_tokens: At most this many, in the stages of `satchel.prompt.budget`;
            None is no limit.
        counter: Counts tokens; None is an estimate that says so.
        style: Whose load tool ``xml-id`` names.
        when_empty: What to give where there are no skills.
        locations: For ``xml-spec``: absolute paths of SKILL.md files by id.
        role: For ``markdown``: an id to name in a first line, and to highlight.
        highlight: For ``markdown``: an id to list first, marked with ``*``.
        find_tool: The tool that a line on what is left out points at; None for none.

    Raises:
        SkillNotFoundError: ``role`` or ``highlight`` is not listed.
    """
    counter = counter or EstimateCounter()
    if not catalog.entries and when_empty == "omit":
        return Rendered("", 0, counter.name, budget_tokens)
    first = role if role is not None else highlight
    entries = catalog.entries if first is None else _put_first(catalog, first)
    return fit(
        _layout(format, style, locations, first, role),
        Lines(
            tuple(entry.id for entry in entries),
            [clean_line(entry.id) for entry in entries],
            [clean_line(entry.description) for entry in entries],
        ),
        budget_tokens=budget_tokens,
        counter=counter,
        find_tool=find_tool,
    )


def _put_first(catalog: Catalog, id: str) -> tuple[Descriptor, ...]:
    chosen = catalog.get(id)
    if chosen is None:
        raise SkillNotFoundError(id)
    return (chosen, *(entry for entry in catalog.entries if entry is not chosen))


def _layout(
    format: Format,  # noqa: A002
    style: Style,
    locations: Mapping[str, str],
    highlight: str | None,
    role: str | None,
) -> Layout:
    match format:
        case "xml-id":
            from satchel.prompt.xml_id import XmlId

            return XmlId(style)
        case "xml-spec":
            from satchel.prompt.xml_spec import XmlSpec

            return XmlSpec(locations)
        case "markdown":
            from satchel.prompt.markdown import Markdown

            return Markdown(
                None if highlight is None else clean_line(highlight),
                None if role is None else clean_line(role),
            )
        case "json":
            from satchel.prompt.json_list import JsonList

            return JsonList()
